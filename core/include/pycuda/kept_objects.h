// kept_objects.h -- objects that live until the device no longer uses them.
//
//     memcpy_htod_async(dest, src, stream)     [src, event A]
//     kernel(texture, stream)                  [src, event A] [texture, event B]
//     ... event A is over: the next call, or the next wait, releases src ...
//
// Work::keep_until_done() is the usual way to them. Objects are released in calls of this library,
// never in a thread of the driver, and never in a process that ends. Any thread may call, but for
// threads of the driver, which may call release_later() only.
#pragma once

#include <pycuda/context.h>
#include <pycuda/stream.h>

#include <atomic>
#include <cstddef>
#include <memory>

namespace pycuda {

/// Keeps an object until the work that is now in a stream of this context is done. Call it for each
/// piece of work that uses the object. Waits for the stream if no event can be recorded in it.
void keep_until_done(std::shared_ptr<void> object, StreamRef stream,
                     const Context &context) noexcept;

/// Releases an object when the work that is now in the default stream of this context is done, also
/// if a capture forbids to record an event now. For the owner of memory that arrays have used: the
/// owner may give the memory to any stream at once.
void release_after_default_stream(std::shared_ptr<void> object, const Context &context) noexcept;

/// Keeps an object until the next call of release_kept_objects().
void release_later(std::shared_ptr<void> object) noexcept;

namespace detail {
inline std::atomic<std::size_t> kept_objects{0};
void release_done_objects() noexcept;
} // namespace detail

/// Releases the objects whose work is done. Call it without locks. Costs a load if there are none.
inline void release_kept_objects() noexcept {
    if (detail::kept_objects.load(std::memory_order_relaxed) != 0) [[unlikely]]
        detail::release_done_objects();
}

} // namespace pycuda
