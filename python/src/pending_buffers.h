// pending_buffers.h -- keeps host memory and objects alive while the device uses them.
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
#include <memory>
#include <utility>
#include <vector>

namespace pycuda::python {

/// An object of Python, or a struct of some, for Work::keep_in_graph(). Its end takes the GIL.
template <class T> std::shared_ptr<void> owned_by_graph(T object) {
    return std::shared_ptr<void>(new T(std::move(object)), [](void *ended) {
        if (driver_for_cleanup() == nullptr)
            return;
        const nb::gil_scoped_acquire acquire;
        delete static_cast<T *>(ended);
    });
}

/// The buffers of copies that may not be done, and objects that threads of the driver have used.
/// Use it only in threads of Python, but for release_later().
class PendingBuffers {
  public:
    static PendingBuffers &instance();

    /// Keeps `buffer` until the work that is now in the stream of `work` is done, or until the
    /// graph that records the work has ended. Waits for the stream if there is no memory to
    /// remember the buffer.
    void keep(HostBuffer buffer, Work &work);

    /// Takes over a reference from a thread of the driver, which has the GIL: in this thread the
    /// end of the object could not call the driver. Does not throw.
    void release_later(nb::object object) noexcept;

    /// Releases the buffers of copies that are done, and the objects of release_later().
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
    std::vector<nb::object> unused_;     ///< objects of release_later()
    std::atomic<std::size_t> count_ = 0; ///< the size of both, which can be read without the lock
};

} // namespace pycuda::python
