// event.h -- points in a stream that can be waited for and timed.
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>
#include <pycuda/stream.h>
#include <pycuda/wait.h>

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace pycuda {

namespace detail {
CUresult destroy_event(CUevent event);

/// The stream in which an event was recorded last; null if this library has not recorded it. Any
/// thread may call.
class RecordingStream {
  public:
    RecordingStream() noexcept = default;
    RecordingStream(RecordingStream &&other) noexcept : stream_(other.get()) {}
    RecordingStream &operator=(RecordingStream &&other) noexcept {
        stream_.store(other.get(), std::memory_order_relaxed);
        return *this;
    }
    CUstream get() const noexcept { return stream_.load(std::memory_order_relaxed); }
    void set(StreamRef stream) noexcept {
        stream_.store(stream.is_default() ? CU_STREAM_LEGACY : stream.get(),
                      std::memory_order_relaxed);
    }

  private:
    std::atomic<CUstream> stream_{nullptr};
};
} // namespace detail

/// A point in a stream. Owns its CUevent and keeps its context alive.
class Event {
  public:
    /// In the current context; flags are CU_EVENT_*.
    explicit Event(unsigned flags = CU_EVENT_DEFAULT);
    /// As above, in this context.
    explicit Event(const Context &context, unsigned flags = CU_EVENT_DEFAULT);
    /// Takes over an event from cuEventCreate; destroys it at the end.
    static Event adopt(CUevent handle, Context context);
    /// Uses an event that other code destroys.
    static Event borrow(CUevent handle, Context context);
    /// Opens an event of another process, in the current context. Throws Error in the process that
    /// made the handle.
    static Event from_ipc_handle(const CUipcEventHandle &handle);

    /// The event's handle; null after close().
    CUevent get() const noexcept { return handle_.get(); }
    /// As get(), but throws Error after close() or after the end of the event's context.
    CUevent require() const {
        if (get() == nullptr) [[unlikely]]
            throw_closed();
        return handle_.live("event");
    }
    /// The context of the event.
    const Context &context() const noexcept { return handle_.context(); }

    /// Moves the event behind all work that the stream has now. Throws Error.
    void record(StreamRef stream = {}) const;
    /// Waits for all work before the last record(); returns at once if there was no record().
    /// Throws Error, also for a kernel that failed, and FailedCheck if a check of a graph that ran
    /// in the event's stream has failed.
    void synchronize(const KeepWaiting &keep_waiting = {}) const;

    /// True once all work before the last record() is done, and before the first record(). Throws
    /// Error if the work failed. Does not report checks of graphs.
    [[nodiscard]] bool query() const;

    /// As query(), but also true if the work has failed or has ended with its context. For code
    /// that frees what the work used: it may run while this thread records a graph.
    [[nodiscard]] bool is_over() const noexcept;

    /// The time in milliseconds from `start` to this event. Throws Error if the work before one of
    /// the events is not done, or if an event was not recorded or has the flag
    /// CU_EVENT_DISABLE_TIMING.
    float milliseconds_since(const Event &start) const;

    /// For from_ipc_handle() in another process. Needs the flags CU_EVENT_INTERPROCESS and
    /// CU_EVENT_DISABLE_TIMING.
    CUipcEventHandle ipc_handle() const;

    /// Destroys the event now, if it was not borrowed. get() is null afterwards.
    void close() noexcept { handle_.reset(); }

  private:
    using Owner = Handle<CUevent, detail::destroy_event>;
    explicit Event(Owner handle) : handle_(std::move(handle)) {}
    [[noreturn]] static void throw_closed();
    Owner handle_;
    mutable detail::RecordingStream recorded_in_;
};

namespace detail {
/// Work of one stream, up to an event. Any thread adds work, so `turn` tells which of two uses by
/// one stream is the later one: a thread takes its turn after its launch and before its event.
struct StreamUse {
    std::shared_ptr<Event> done;
    std::uint64_t stream = 0; ///< stream_id(); 0: unknown
    std::uint64_t turn = 0;
};
} // namespace detail

} // namespace pycuda
