// pending_buffers.h -- keeps host memory and objects alive while the device uses them.
//
//     memcpy_htod_async(dest, src, stream)     [src, event A]
//     memcpy_dtoh_async(dst2, ptr, stream)     [src, event A] [dst2, event B]
//     ... event A is done: the next copy, or the next wait, releases src ...
#pragma once

#include "host_buffer.h"

#include <pycuda/event.h>
#include <pycuda/work.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace pycuda::python {

/// The buffers of copies that may not be done, and objects that threads of the driver have used.
/// Use it only in threads of Python, but for release_later().
class PendingBuffers {
  public:
    static PendingBuffers &instance();

    /// Keeps `buffer` until the work that is now in the stream of `work` is done, or until the
    /// graph that records the work has ended. Waits for the stream if there is no memory to
    /// remember the buffer.
    void keep(HostBuffer buffer, Work &work);

    /// Keeps an object, such as a texture, until the work that is now in the stream is done.
    /// `context` is the stream's. Call it for each launch that uses the object.
    void keep(nb::handle object, StreamRef stream, const Context &context);

    /// Takes over a reference to the owner of memory that arrays have used, and releases it when
    /// the work that is now in the default stream of `context` is done: the owner may give the
    /// memory to any stream at once. Does not throw.
    void release_after_work(nb::object owner, const Context &context) noexcept;

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
    /// An object that kernels in a stream use, until the last one is done.
    struct InUse {
        nb::object object;
        CUstream stream;
        Event done;
    };
    /// The owner of memory that the default stream may still use.
    struct Lender {
        nb::object owner;
        Context context;
        std::optional<Event> done; ///< none if a capture forbids to record it now

        bool is_done() noexcept;
    };
    void release() noexcept;
    void count() noexcept {
        count_ = pending_.size() + in_use_.size() + lenders_.size() + unused_.size();
    }

    nb::ft_mutex mutex_;
    std::deque<Pending> pending_;
    std::vector<InUse> in_use_;
    std::vector<Lender> lenders_;
    std::vector<nb::object> unused_; ///< objects of release_later()
    /// The size of all four, which can be read without the lock.
    std::atomic<std::size_t> count_ = 0;
};

} // namespace pycuda::python
