// pending_buffers.h -- keeps host memory alive while asynchronous copies use it.
//
//     memcpy_htod_async(dest, src, stream)     [src, event A]
//     memcpy_dtoh_async(dst2, ptr, stream)     [src, event A] [dst2, event B]
//     ... event A is done: the next copy, or the next wait, releases src ...
#pragma once

#include "host_buffer.h"

#include <pycuda/driver.h>
#include <pycuda/event.h>
#include <pycuda/work.h>

#include <atomic>
#include <cstddef>
#include <deque>

namespace pycuda::python {

/// The buffers of copies that may not be done. Use it only in threads of Python.
class PendingBuffers {
  public:
    static PendingBuffers &instance();

    /// Keeps `buffer` until the work that is now in the stream of `work` is done, or until the
    /// graph that records the work has ended. Waits for the stream if there is no memory to
    /// remember the buffer.
    void keep(HostBuffer buffer, Work &work);

    /// Releases the buffers of copies that are done.
    void release_finished() noexcept {
        if (count_.load(std::memory_order_relaxed) != 0) [[unlikely]]
            release();
    }

  private:
    struct Pending {
        HostBuffer buffer;
        Event done;
    };
    /// Whether a copy is done, or has ended with its context.
    static bool is_over(const Driver &driver, const Event &copied) noexcept;
    void release() noexcept;

    nb::ft_mutex mutex_;
    std::deque<Pending> pending_;
    std::atomic<std::size_t> count_ =
        0; ///< the size of pending_, which can be read without the lock
};

} // namespace pycuda::python
