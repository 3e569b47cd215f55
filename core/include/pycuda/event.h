// event.h -- points in a stream that can be waited for and timed.
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>
#include <pycuda/stream.h>
#include <pycuda/wait.h>

#include <cuda.h>

namespace pycuda {

namespace detail {
CUresult destroy_event(CUevent event);
}

/// A point in a stream. Owns its CUevent and keeps its context alive.
class Event {
  public:
    /// In the current context; flags are CU_EVENT_*.
    explicit Event(unsigned flags = CU_EVENT_DEFAULT);
    explicit Event(const Context &context, unsigned flags = CU_EVENT_DEFAULT);
    static Event adopt(CUevent handle, Context context);
    static Event borrow(CUevent handle, Context context);
    /// Opens an event of another process.
    static Event from_ipc_handle(const CUipcEventHandle &handle);

    /// The event's handle; null after close().
    CUevent get() const noexcept { return handle_.get(); }
    /// As get(), but throws Error after close() or after the end of the event's context.
    CUevent require() const {
        if (get() == nullptr) [[unlikely]]
            throw_closed();
        return handle_.live("event");
    }
    const Context &context() const noexcept { return handle_.context(); }

    void record(StreamRef stream = {}) const;
    void synchronize(const KeepWaiting &keep_waiting = {}) const;

    /// True once all work before the last record() is done.
    [[nodiscard]] bool query() const;

    /// The time in milliseconds from `start` to this event. The work before both events must be
    /// done.
    float milliseconds_since(const Event &start) const;

    CUipcEventHandle ipc_handle() const;

    /// Destroys the event now. get() is null afterwards.
    void close() noexcept { handle_.reset(); }

  private:
    using Owner = Handle<CUevent, detail::destroy_event>;
    explicit Event(Owner handle) : handle_(std::move(handle)) {}
    [[noreturn]] static void throw_closed();
    Owner handle_;
};

} // namespace pycuda
