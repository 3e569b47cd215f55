// stream.cpp -- a queue of work on a device.
#include <pycuda/stream.h>

#include "context/context_owner.h"
#include "context/graph_checks.h"
#include "context/recording.h"
#include "context/stream_poll.h"
#include "context/wait_loop.h"

#include <pycuda/called_function.h>
#include <pycuda/driver.h>
#include <pycuda/event.h>

#include <utility>

namespace pycuda {

CUresult detail::destroy_stream(CUstream stream) { return driver().cuStreamDestroy.status(stream); }

namespace {

CUstream create_stream(unsigned flags, int priority) {
    CUstream handle = nullptr;
    if (priority == 0)
        driver().cuStreamCreate(&handle, flags);
    else
        driver().cuStreamCreateWithPriority(&handle, flags, priority);
    return handle;
}

CUstream create_stream(const Context &context, unsigned flags, int priority) {
    ScopedContext scope(context);
    return create_stream(flags, priority);
}

thread_local CurrentStream stream_of_thread;

/// The context of a stream; null if the stream belongs to each context, or if the handle is no
/// stream, which the work itself reports.
CUcontext context_of(CUstream stream) {
    CUcontext context = nullptr;
    if (stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD)
        (void)driver().cuStreamGetCtx.status(stream, &context);
    return context;
}

StreamRef stream_in_current_context(const CurrentStream &stream) {
    if (stream.object != nullptr)
        static_cast<void>(stream.object->require());
    if (stream.context == nullptr)
        return stream.handle;
    CUcontext current = nullptr;
    (void)driver().cuCtxGetCurrent.status(&current);
    return current == nullptr || current == stream.context ? StreamRef(stream.handle) : StreamRef();
}

bool is_recorded(StreamRef stream) {
    return !stream.is_default() && recording_of(stream.get()) == Recording::Yes;
}

} // namespace

Stream::Stream(unsigned flags, int priority)
    : Stream(Context::require_current(), flags, priority) {}

Stream::Stream(const Context &context, unsigned flags, int priority)
    : Stream(Owner::adopt(create_stream(context, flags, priority), context)) {}

Stream::Stream(Owner handle) : handle_(std::move(handle)) {
    if (detail::StreamSet *streams = context().streams(); streams && get())
        streams->add(get(), handle_.owned());
}

Stream &Stream::operator=(Stream &&other) noexcept {
    if (this != &other) {
        reset();
        handle_ = std::move(other.handle_);
        closed_ = other.closed_;
    }
    return *this;
}

void Stream::reset() noexcept {
    if (get() == nullptr)
        return;
    if (detail::StreamSet *streams = context().streams())
        streams->remove(get());
    handle_.reset();
}

void Stream::close() noexcept {
    reset();
    closed_ = true;
}

void Stream::throw_closed() {
    throw Error("stream", CUDA_ERROR_INVALID_HANDLE, "the stream was closed before");
}

Stream Stream::adopt(CUstream handle, Context context) {
    return Stream(Owner::adopt(handle, std::move(context)));
}

Stream Stream::borrow(CUstream handle, Context context) {
    return Stream(Owner::borrow(handle, std::move(context)));
}

void Stream::synchronize(const KeepWaiting &keep_waiting) const {
    pycuda::synchronize(*this, keep_waiting);
}

bool Stream::query() const {
    CUresult result = driver().cuStreamQuery.status(require());
    if (result == CUDA_ERROR_NOT_READY)
        return false; // pending is an answer, not a failure
    check(result, driver().cuStreamQuery.name());
    return true;
}

void Stream::wait(const Event &event) const {
    driver().cuStreamWaitEvent(require(), event.require(), 0);
}

int Stream::priority() const {
    int priority = 0;
    driver().cuStreamGetPriority(require(), &priority);
    return priority;
}

unsigned Stream::flags() const {
    unsigned flags = 0;
    driver().cuStreamGetFlags(require(), &flags);
    return flags;
}

CurrentStream::CurrentStream(const Stream &stream)
    : handle(stream.require()), context(stream.context().get()), object(&stream) {}

CurrentStream::CurrentStream(StreamRef stream)
    : handle(stream.get()), context(context_of(stream.get())) {}

StreamRef current_stream() {
    const CurrentStream &current = stream_of_thread;
    if (current.handle == nullptr && current.object == nullptr) [[likely]]
        return {};
    return stream_in_current_context(current);
}

CurrentStream exchange_current_stream(CurrentStream stream) noexcept {
    return std::exchange(stream_of_thread, stream);
}

std::uint64_t stream_id(StreamRef stream) noexcept {
    const Driver *driver = driver_for_cleanup();
    unsigned long long id = 0;
    if (driver == nullptr || !driver->cuStreamGetId.available() ||
        driver->cuStreamGetId.status(stream.get(), &id) != CUDA_SUCCESS)
        return 0;
    return id + 1;
}

void synchronize(StreamRef stream, const KeepWaiting &keep_waiting) {
    if (is_recorded(stream)) [[unlikely]] // the driver would also invalidate the capture
        throw Error(called_function("cuStreamSynchronize"), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                    "the stream is being captured: its work is recorded and does not run, so "
                    "nothing can wait for it or read its results before the graph is launched");
    if (keep_waiting)
        detail::wait_loop("cuStreamSynchronize", keep_waiting, detail::StreamPoll(stream.get()),
                          [&] { return driver().cuStreamSynchronize.status(stream.get()); });
    else
        driver().cuStreamSynchronize(stream.get());
    detail::report_failed_checks(stream);
}

} // namespace pycuda
