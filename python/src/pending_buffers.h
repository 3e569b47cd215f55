// pending_buffers.h -- keeps host memory alive while asynchronous copies still use it.
//
//     memcpy_htod_async(dest, src, stream)     [src, event A]
//     memcpy_dtoh_async(dst2, ptr, stream)     [src, event A] [dst2, event B]
//     ... the device passes A; the next copy, or the next wait, drops src ...
#pragma once

#include "host_buffer.h"

#include <pycuda/driver.h>
#include <pycuda/event.h>
#include <pycuda/stream.h>

#include <atomic>
#include <cstddef>
#include <deque>

namespace pycuda::python {

/// The buffers of copies that may not be done yet. Not to be used in a thread without Python.
class PendingBuffers {
  public:
    static PendingBuffers &instance();

    /// Keeps `buffer` until `stream` has done all that is in it now. Waits for the stream if there
    /// is no memory to remember the buffer.
    void keep(HostBuffer buffer, StreamRef stream);

    /// Drops the buffers of copies that are done.
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
    std::atomic<std::size_t> count_ = 0; ///< of pending_, to be read without the lock
};

} // namespace pycuda::python
