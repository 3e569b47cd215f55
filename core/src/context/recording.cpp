// recording.cpp -- whether the driver records the work of a stream instead of running it.
#include "context/recording.h"

#include "context/outside_captures.h"

#include <pycuda/driver.h>
#include <pycuda/driver_calls.h>

namespace pycuda {

Recording recording_of(CUstream stream) noexcept {
    const Driver *loaded = driver_for_cleanup();
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    if (loaded == nullptr || loaded->cuStreamIsCapturing.status(stream, &capture) != CUDA_SUCCESS)
        return Recording::Unknown;
    return capture == CU_STREAM_CAPTURE_STATUS_NONE ? Recording::No : Recording::Yes;
}

bool default_stream_is_idle() {
    const detail::OutsideCaptures outside;
    return recording_of(nullptr) == Recording::No &&
           driver().cuStreamQuery.status(nullptr) == CUDA_SUCCESS;
}

} // namespace pycuda
