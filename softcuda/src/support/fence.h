// fence.h -- the order of memory between the runtime's notes and the accesses of generated code.
#pragma once

#include <atomic>

namespace softcuda {

/// What this thread has written before is seen by a thread that sees what it stores next.
inline void release_fence() noexcept {
#ifdef __SANITIZE_THREAD__ // knows no fences, and does not see the accesses of generated code
    std::atomic_signal_fence(std::memory_order_release);
#else
    std::atomic_thread_fence(std::memory_order_release);
#endif
}

/// What another thread had written before it stored what this thread has loaded is seen now.
inline void acquire_fence() noexcept {
#ifdef __SANITIZE_THREAD__
    std::atomic_signal_fence(std::memory_order_acquire);
#else
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

} // namespace softcuda
