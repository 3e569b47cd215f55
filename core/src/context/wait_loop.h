// wait_loop.h -- a wait that polls, and asks the caller from time to time whether to continue.
//
// The first millisecond spins, since a sleep ends some 50 microseconds late and most waits end
// there; softcuda gives its own threads the core in between. Later pauses are 1/16 of the time
// waited so far, which bounds what polling adds to a long wait to 6 %, and at most a millisecond.
#pragma once

#include "driver/wait_note.h"

#include <pycuda/caller_lock.h>
#include <pycuda/error.h>
#include <pycuda/init.h>
#include <pycuda/pending_work.h>
#include <pycuda/wait.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace pycuda::detail {

/// Waits until `query()` does not return CUDA_ERROR_NOT_READY, without the caller's lock. Any other
/// failure is thrown. `wait()` is the driver's own wait for the same work, which shows what kernels
/// have printed. If the work is done already, the costs are those of `query()`.
template <class Query, class Wait>
void wait_loop(const char *function, const KeepWaiting &keep_waiting, Query &&query, Wait &&wait) {
    using namespace std::chrono_literals;
    using Clock = std::chrono::steady_clock;
    constexpr auto spin = 1ms;
    constexpr auto ask_every = 5ms;

    CUresult result = query();
    if (result == CUDA_ERROR_NOT_READY) {
        const CallerUnlocked unlocked;
        const Clock::time_point start = Clock::now();
        Clock::time_point next_question = start + ask_every;
        while ((result = query()) == CUDA_ERROR_NOT_READY) {
            const Clock::time_point now = Clock::now();
            if (now - start < spin)
                continue;
            if (now >= next_question) {
                if (!keep_waiting()) {
                    interrupt_device_work();
                    throw Interrupted(function);
                }
                next_question = now + ask_every;
            }
            std::this_thread::sleep_for(std::min<Clock::duration>((now - start) / 16, 1ms));
        }
        note_wait(function, start, Clock::now());
    }
    if (kernels_may_print.load(std::memory_order_relaxed))
        static_cast<void>(wait()); // any failure is that of the query
    check(result, function);
}

} // namespace pycuda::detail
