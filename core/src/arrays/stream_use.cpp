// stream_use.cpp -- work in a stream that uses the memory of arrays.
#include <pycuda/stream_use.h>

#include <pycuda/driver.h>
#include <pycuda/event.h>

#include <algorithm>

namespace pycuda {
namespace {

/// Whether what is put into the stream is recorded for a graph, and not done.
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
    // The default stream is one of the current context's, which need not be the memory's.
    const ScopedContext scope(memory->context()->context());
    if (is_recording(driver(), stream_)) // which cannot wait for what is not recorded
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
        return; // whoever launches the graph keeps its arrays
    try {
        const ScopedContext scope(context);
        auto done = std::make_shared<Event>(context, CU_EVENT_DISABLE_TIMING);
        done->record(stream_);
        for (const std::shared_ptr<ArrayMemory> &memory : away_)
            memory->used_until(done);
    } catch (const std::exception &) {
        // Neither an event nor host memory is to be had: wait, so that the use is over. A failure
        // is one of the work in the stream, and is reported to whoever waits for that.
        (void)driver->cuStreamSynchronize.status(stream_.get());
    }
}

} // namespace pycuda
