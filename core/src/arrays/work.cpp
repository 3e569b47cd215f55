// stream_use.cpp -- work in a stream that uses the memory of arrays.
#include <pycuda/stream_use.h>

#include <pycuda/driver.h>
#include <pycuda/event.h>

#include <algorithm>

namespace pycuda {
namespace {

/// Whether the stream is being captured for a graph.
bool is_recording(const Driver &driver, StreamRef stream) noexcept {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return stream.get() != nullptr &&
           driver.cuStreamIsCapturing.status(stream.get(), &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

} // namespace

void StreamUse::note_away(const std::shared_ptr<ArrayMemory> &memory) {
    if (std::ranges::find(away_, memory) != away_.end())
        return;
    away_.push_back(memory);
    if (!memory->is_fresh_.exchange(false, std::memory_order_relaxed))
        return;
    // The default stream belongs to the current context, which may not be the context of the
    // memory.
    const ScopedContext scope(memory->context()->context());
    if (is_recording(driver(), stream_)) // captured work cannot wait for work outside the graph
        synchronize(memory->home());
    else
        memory->context()->order(memory->home(), stream_);
}

void StreamUse::record() noexcept {
    const Driver *driver = driver_for_cleanup();
    const Context &context = away_.front()->context()->context();
    if (driver == nullptr || !context.usable())
        return;
    if (is_recording(*driver, stream_))
        return; // the owner of the graph keeps its arrays alive
    try {
        const ScopedContext scope(context);
        auto done = std::make_shared<Event>(context, CU_EVENT_DISABLE_TIMING);
        done->record(stream_);
        for (const std::shared_ptr<ArrayMemory> &memory : away_)
            memory->used_until(done);
    } catch (const std::exception &) {
        // No event can be created, or host memory is exhausted: waits until the use is over. A
        // failure of the work is reported to the code that waits for the stream.
        (void)driver->cuStreamSynchronize.status(stream_.get());
    }
}

} // namespace pycuda
