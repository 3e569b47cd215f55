// work.cpp -- one piece of work on the device.
#include <pycuda/work.h>

#include "arrays/capture_memory.h"
#include "context/graph_checks.h"
#include "context/outside_captures.h"

#include <pycuda/called_function.h>
#include <pycuda/caller_lock.h>
#include <pycuda/copy.h>
#include <pycuda/driver.h>
#include <pycuda/driver_calls.h>
#include <pycuda/event.h>
#include <pycuda/kept_objects.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace pycuda {
namespace {

std::string name_of(const Context &context) {
    return "cuda:" + std::to_string(context.device().get());
}

/// The stream of the thread's WorkOutsideCapture, and the number of the capture that the thread has
/// left; null and 0 if there is none.
struct Outside {
    CUstream stream = nullptr;
    std::uint64_t capture = 0;
};
thread_local Outside outside;

/// Whether a stream waits for work that was queued in the default stream before, and the default
/// stream for work of this stream.
bool waits_for_default_stream(StreamRef stream) {
    unsigned flags = CU_STREAM_NON_BLOCKING;
    (void)driver().cuStreamGetFlags.status(stream.get(), &flags);
    return (flags & CU_STREAM_NON_BLOCKING) == 0;
}

[[noreturn]] void throw_inside_capture() {
    throw Error(called_function("work outside of the capture"),
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                "the result is kept after the capture, but depends on an array that belongs to the "
                "stream that is being captured; make the result before the capture");
}

} // namespace

void WorkContext::add_other(const Context &other) {
    if (*home_ == other)
        return;
    has_several_ = true;
    if (home_->device() == other.device()) // they share their addresses
        return;
    throw std::invalid_argument("the arrays of one operation must be on one device, not on " +
                                name_of(*home_) + " and " + name_of(other) +
                                "; copy one of them with to_device()");
}

void WorkContext::note_operand(const Array &array) {
    if (noted_ == nullptr)
        noted_ = NotedOperation::begin();
    if (noted_ != nullptr)
        noted_->add_operand(array);
}

void WorkContext::enter_home() {
    const CUcontext home = home_->get();
    if (driver().cuCtxGetCurrent.value() != home) [[unlikely]] {
        // A context that was released cannot be made current; the operation itself reports it.
        if (!home_->usable())
            return;
        scope_.emplace(*home_);
    }
    entered_ = home;
    if (has_several_ || ArrayContext::InCurrent::any()) [[unlikely]]
        several_ = std::make_unique<ArrayContext::InCurrent>();
}

bool Work::is_in_context(const ArrayMemory &memory) {
    if (context_ == nullptr)
        driver().cuCtxGetCurrent(&context_);
    if (context_ == nullptr) // none is current
        context_ = memory.context()->handle();
    return context_ == memory.context()->handle();
}

Work::Noted &Work::noted() {
    if (noted_ == nullptr)
        noted_ = std::make_unique<Noted>();
    return *noted_;
}

void Work::find_capture() {
    if (std::shared_ptr<detail::CaptureMemory> capture = detail::CaptureMemory::of(stream_))
        noted().capture = std::move(capture);
}

void Work::throw_captured(std::string_view what) {
    throw Error(called_function(what), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                "the stream is being captured: its work is recorded and does not run, so there is "
                "no result to wait for before the graph is launched");
}

bool Work::was_after_all_uses(ArrayMemory &memory) const {
    if (memory.context()->handle() != context_ || is_captured() || memory.is_of_graph())
        return false;
    if (!memory.is_at_home(stream_.get())) {
        const StreamRef home = memory.home();
        const bool has_default = home.is_default() || stream_.is_default();
        if (!has_default || !waits_for_default_stream(home.is_default() ? stream_ : home))
            return false;
    }
    return memory.others_are_done(stream_id(stream_));
}

void Work::follow(StreamRef producer) {
    if (producer.get() == stream_.get() || (producer.is_default() && stream_.is_default()))
        return;
    if (is_captured() && detail::CaptureMemory::of(producer) == nullptr) {
        // Recorded work cannot wait for work that runs now.
        if (producer.is_default() && capture_blocks_default_stream())
            return; // the launch of the graph waits for the default stream
        const detail::OutsideCaptures outside;
        return synchronize(producer);
    }
    CUcontext context = nullptr; // an event is recorded in streams of its own context only
    driver().cuStreamGetCtx(producer.get(), &context);
    const Event produced(Context::borrow(context), CU_EVENT_DISABLE_TIMING);
    produced.record(producer);
    driver().cuStreamWaitEvent(stream_.get(), produced.get(), 0);
}

void Work::keep_until_done(std::shared_ptr<void> object) {
    if (is_captured())
        noted_->capture->keep(std::move(object));
    else
        noted().kept.push_back(std::move(object));
}

void Work::keep_in_graph(std::shared_ptr<void> object) {
    if (is_captured())
        noted_->capture->keep(std::move(object));
}

CUdeviceptr Work::add_check(std::span<const FailedCheck> failures) {
    const std::shared_ptr<detail::GraphChecks> checks = detail::GraphChecks::of(stream_);
    if (checks == nullptr) // an earlier call that the capture forbids has ended it
        throw Error(called_function("a check of recorded work"),
                    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    return checks->add(failures);
}

/// Memory of the graph stays in its pool. Other memory is kept by the graph.
void Work::note_captured(const std::shared_ptr<ArrayMemory> &memory) {
    memory->expose(); // each launch of the graph may change the elements
    if (memory->is_of_capture(noted_->capture->id())) {
        if (!memory->is_at_home(stream_.get()))
            memory->is_shared_.store(true, std::memory_order_relaxed);
        memory->is_fresh_.store(false, std::memory_order_relaxed);
        return;
    }
    if (memory->is_fresh_.exchange(false, std::memory_order_relaxed) &&
        !memory->is_at_home(stream_.get())) {
        const ScopedContext scope(memory->context()->context());
        follow(memory->home());
    }
    noted_->capture->keep(memory);
}

void Work::note_specially(const std::shared_ptr<ArrayMemory> &memory) {
    if (!memory->context()->context().usable())
        throw Error("array", CUDA_ERROR_CONTEXT_IS_DESTROYED,
                    "the context of this array has ended, and its memory with it");
    if (!is_in_context(*memory))
        note_elsewhere(memory);
    else if (memory->is_at_home(stream_.get()) && !is_captured())
        memory->is_fresh_.store(false, std::memory_order_relaxed);
    else
        note_away(memory);
}

void Work::note_away(const std::shared_ptr<ArrayMemory> &memory) {
    if (is_captured())
        return note_captured(memory);
    if (outside.capture != 0 && memory->is_of_capture(outside.capture))
        throw_inside_capture();
    std::vector<std::shared_ptr<ArrayMemory>> &away = noted().away;
    if (std::ranges::find(away, memory) != away.end())
        return;
    away.push_back(memory);
    // Memory of a graph has no earlier user outside of the graph.
    if (!memory->is_fresh_.exchange(false, std::memory_order_relaxed) || memory->is_of_graph())
        return;
    wait_for_home(*memory);
}

/// The default stream is that of the current context, which may not be the context of the memory.
void Work::wait_for_home(const ArrayMemory &memory) const {
    if (outside.stream != nullptr && stream_.get() == outside.stream) [[unlikely]] {
        if (memory.home().is_default()) // for which the stream waits by itself
            return;
        if (is_capturing(memory.home().get()))
            throw_inside_capture();
    }
    const Context &home = memory.context()->context();
    const Event written(home, CU_EVENT_DISABLE_TIMING);
    {
        const ScopedContext scope(home);
        written.record(memory.home());
    }
    driver().cuStreamWaitEvent(stream_.get(), written.get(), 0);
}

/// Whether work is ordered before and after the work in the home stream of memory of another
/// context: a kernel, or an operation with arrays of several contexts of one device. A copy between
/// devices is ordered by the program.
bool Work::is_ordered_with(const Context &other) const {
    return kernel_context_ != nullptr || Context::borrow(context_).device() == other.device();
}

/// Memory of another context than the stream's: the streams of the two are different ones, even if
/// both are the default stream.
void Work::note_elsewhere(const std::shared_ptr<ArrayMemory> &memory) {
    const Context &other = memory->context()->context();
    if (!is_ordered_with(other))
        return note_away(memory);
    if (kernel_context_ != nullptr && other.device() != kernel_context_->device() &&
        !kernel_context_->has_peer_access(other))
        throw std::invalid_argument(
            "an array on " + name_of(other) + " was passed to a kernel that was loaded on " +
            name_of(*kernel_context_) +
            "; copy it with to_device(), or enable peer access between the contexts");
    if (is_captured()) {
        const detail::OutsideCaptures outside;
        const ScopedContext scope(other);
        synchronize(memory->home());
        memory->expose();
        return noted_->capture->keep(memory);
    }
    std::vector<std::shared_ptr<ArrayMemory>> &away = noted().away;
    if (std::ranges::find(away, memory) != away.end())
        return;
    away.push_back(memory);
    memory->is_fresh_.store(false, std::memory_order_relaxed);
    if (memory->is_of_graph())
        return;
    const ScopedContext scope(stream_context());
    wait_for_home(*memory);
}

struct WorkOutsideCapture::Scope {
    Scope(StreamRef side, std::uint64_t capture)
        : stream(side), current(side), outer(std::exchange(outside, {side.get(), capture})) {}
    ~Scope() { outside = outer; }
    Scope &operator=(Scope &&) = delete; // no copies either

    detail::OutsideCaptures captures;
    StreamRef stream;
    StreamScope current;
    Outside outer;
};

WorkOutsideCapture::WorkOutsideCapture() {
    const StreamRef stream = current_stream();
    const std::shared_ptr<detail::CaptureMemory> capture = detail::CaptureMemory::of(stream);
    if (capture == nullptr && !(stream.is_default() && capture_blocks_default_stream())) [[likely]]
        return;
    const std::shared_ptr<ArrayContext> context = ArrayContext::current();
    scope_ =
        std::make_unique<Scope>(context->side_stream(), capture != nullptr ? capture->id() : 0);
    // A wait for the stream thus includes the earlier work of the default stream.
    Event(context->context(), CU_EVENT_DISABLE_TIMING).record(scope_->stream);
}

WorkOutsideCapture::~WorkOutsideCapture() {
    // A failure of the work is reported to the code that uses its results.
    if (scope_ != nullptr)
        if (const Driver *driver = driver_for_cleanup())
            (void)driver->cuStreamSynchronize.status(scope_->stream.get());
}

Workspace::Workspace(const std::shared_ptr<ArrayContext> &context, std::size_t bytes,
                     StreamRef stream)
    : work_(stream) {
    if (bytes == 0)
        return;
    memory_ = ArrayMemory::from_pool(context, bytes, stream);
    address_ = work_.use(memory_);
}

/// An event is recorded in streams of its own context only.
Context Work::stream_context() const {
    if (kernel_context_ != nullptr)
        return *kernel_context_;
    if (context_ == nullptr)
        return Context::require_current();
    const std::vector<std::shared_ptr<ArrayMemory>> &away = noted_->away;
    if (!away.empty() && away.front()->context()->handle() == context_)
        return away.front()->context()->context();
    return Context::borrow(context_);
}

/// Records the event of the last use again if this memory alone has it, as in a loop of launches.
detail::StreamUse Work::record_use(const Context &context) const {
    static std::atomic<std::uint64_t> turns = 0;
    const std::vector<std::shared_ptr<ArrayMemory>> &away = noted_->away;
    detail::StreamUse use{nullptr, stream_id(stream_), ++turns};
    use.done = away.front()->last_use(use.stream);
    const auto count = static_cast<long>(away.size());
    if (use.done == nullptr || use.done.use_count() != count + 1 ||
        !std::all_of(away.begin() + 1, away.end(),
                     [&](const auto &other) { return other->last_use(use.stream) == use.done; }))
        use.done = std::make_shared<Event>(context, CU_EVENT_DISABLE_TIMING);
    use.done->record(stream_);
    return use;
}

void Work::record() noexcept {
    const Driver *driver = driver_for_cleanup();
    if (driver == nullptr || (noted_->away.empty() && noted_->kept.empty()))
        return;
    try {
        const Context context = stream_context();
        if (!context.usable())
            return;
        const ScopedContext scope(context);
        for (std::shared_ptr<void> &object : noted_->kept)
            pycuda::keep_until_done(std::move(object), stream_, context);
        if (noted_->away.empty())
            return;
        const detail::StreamUse use = record_use(context);
        for (const std::shared_ptr<ArrayMemory> &memory : noted_->away) {
            memory->used_until(use);
            if (memory->context()->handle() != context_ &&
                is_ordered_with(memory->context()->context())) {
                const ScopedContext elsewhere(memory->context()->context());
                driver->cuStreamWaitEvent(memory->home().get(), use.done->get(), 0);
            }
        }
    } catch (const std::exception &) {
        // No event can be created, or host memory is exhausted: waits until the use is over. A
        // failure of the work is reported to the code that waits for the stream.
        (void)driver->cuStreamSynchronize.status(stream_.get());
    }
}

void copy_to_device(CUdeviceptr to, const void *from, std::size_t bytes, Work &work,
                    const KeepWaiting &keep_waiting) {
    const CallerUnlocked unlocked;
    const StreamRef stream = work.stream();
    if (stream.is_default())
        return copy_to_device(to, from, bytes, keep_waiting);
    if (work.is_captured()) {
        const auto *const begin = static_cast<const std::byte *>(from);
        auto kept = std::make_shared<std::vector<std::byte>>(begin, begin + bytes);
        copy_to_device_async(to, kept->data(), bytes, stream);
        return work.keep_in_graph(std::move(kept));
    }
    synchronize(stream, keep_waiting); // a wait that can be interrupted
    copy_to_device_async(to, from, bytes, stream);
    synchronize(stream);
}

void copy_to_host(void *to, CUdeviceptr from, std::size_t bytes, const Work &work,
                  const KeepWaiting &keep_waiting) {
    const CallerUnlocked unlocked;
    const StreamRef stream = work.stream();
    work.require_running("a copy to the host");
    if (stream.is_default())
        return copy_to_host(to, from, bytes, keep_waiting);
    synchronize(stream, keep_waiting);
    copy_to_host_async(to, from, bytes, stream);
    synchronize(stream);
}

} // namespace pycuda
