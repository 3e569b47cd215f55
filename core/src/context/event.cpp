// event.cpp -- points in a stream that can be waited for and timed.
#include <pycuda/event.h>

#include "context/graph_checks.h"
#include "context/outside_captures.h"
#include "context/wait_loop.h"

#include <abi/extensions.h>
#include <pycuda/driver.h>

namespace pycuda {

CUresult detail::destroy_event(CUevent event) { return driver().cuEventDestroy.status(event); }

namespace {

CUevent create_event(const Context &context, unsigned flags) {
    ScopedContext scope(context);
    return driver().cuEventCreate.value(flags);
}

/// Queries each of the two events alone: for an event without timing, the time since itself is an
/// error.
std::string why_not_timed(const Event &start, const Event &end) {
    for (const Event *event : {&start, &end}) {
        float milliseconds = 0;
        if (driver().cuEventElapsedTime.status(&milliseconds, event->get(), event->get()) ==
            CUDA_ERROR_INVALID_HANDLE)
            return std::string("the event that the time ") + (event == &start ? "starts" : "ends") +
                   " at was not recorded, or was made with DISABLE_TIMING";
    }
    return "";
}

} // namespace

Event::Event(unsigned flags) : Event(Context::require_current(), flags) {}

Event::Event(const Context &context, unsigned flags)
    : handle_(Owner::adopt(create_event(context, flags), context)) {}

Event Event::adopt(CUevent handle, Context context) {
    return Event(Owner::adopt(handle, std::move(context)));
}

Event Event::borrow(CUevent handle, Context context) {
    return Event(Owner::borrow(handle, std::move(context)));
}

Event Event::from_ipc_handle(const CUipcEventHandle &handle) {
    Context context = Context::require_current();
    CUevent event = nullptr;
    const CUresult result = driver().cuIpcOpenEventHandle.status(&event, handle);
    check(result, "cuIpcOpenEventHandle", [&] {
        return result == CUDA_ERROR_INVALID_CONTEXT ? "only another process can open the handle"
                                                    : "";
    });
    return adopt(event, std::move(context));
}

void Event::throw_closed() {
    throw Error("event", CUDA_ERROR_INVALID_HANDLE, "the event was closed before");
}

void Event::record(StreamRef stream) const {
    driver().cuEventRecord(require(), stream.get());
    recorded_in_.set(stream);
}

void Event::synchronize(const KeepWaiting &keep_waiting) const {
    if (keep_waiting)
        detail::wait_loop(
            "cuEventSynchronize", keep_waiting,
            [&] { return driver().cuEventQuery.status(require()); },
            [&] { return driver().cuEventSynchronize.status(require()); });
    else
        driver().cuEventSynchronize(require());
    if (const CUstream stream = recorded_in_.get())
        detail::report_failed_checks(stream);
}

bool Event::query() const {
    CUresult result = driver().cuEventQuery.status(require());
    if (result == CUDA_ERROR_NOT_READY)
        return false; // pending is an answer, not a failure
    check(result, driver().cuEventQuery.name());
    return true;
}

bool Event::is_over() const noexcept {
    // A context that was destroyed took its events with it: NVIDIA's driver reads freed memory when
    // it queries one of them.
    const Driver *loaded = driver_for_cleanup();
    if (loaded == nullptr || get() == nullptr || !context().usable())
        return true;
    if (const auto ask = loaded->extensions().scuEventIsOver)
        return ask(get()) != CUDA_ERROR_NOT_READY;
    const detail::OutsideCaptures outside;
    return loaded->cuEventQuery.status(get()) != CUDA_ERROR_NOT_READY;
}

float Event::milliseconds_since(const Event &start) const {
    float milliseconds = 0;
    const CUresult result =
        driver().cuEventElapsedTime.status(&milliseconds, start.require(), require());
    check(result, "cuEventElapsedTime", [&] {
        return result == CUDA_ERROR_NOT_READY ? "the work before an event is not done; call "
                                                "synchronize() of the later event first"
                                              : why_not_timed(start, *this);
    });
    return milliseconds;
}

CUipcEventHandle Event::ipc_handle() const { return driver().cuIpcGetEventHandle.value(require()); }

} // namespace pycuda
