// pause.h -- what a thread does between two looks at memory for which it waits.
#pragma once

namespace softcuda::target {

/// Tells the processor that a loop waits: leaves units of the core to its other hardware thread.
inline void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" : : : "memory"); // `yield` does nothing on most cores
#else
#error "this processor has no folder in target/"
#endif
}

} // namespace softcuda::target
