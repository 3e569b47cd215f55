// ticks.h -- a clock that takes less time than a system call.
#pragma once

#include <cstdint>

namespace softcuda::target {

/// A counter with a constant rate that never runs backwards in a thread.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t now = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
#error "this processor has no folder in target/"
#endif
}

} // namespace softcuda::target
