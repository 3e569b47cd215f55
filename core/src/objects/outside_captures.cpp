// outside_captures.cpp -- exchanges the thread's capture mode, for a question about a stream, too.
#include "objects/outside_captures.h"

#include <pycuda/driver.h>
#include <pycuda/driver_calls.h>

namespace pycuda::detail {

OutsideCaptures::OutsideCaptures() noexcept : driver_(driver_for_cleanup()) { exchange(); }

void OutsideCaptures::exchange() noexcept {
    if (driver_ != nullptr && driver_->cuThreadExchangeStreamCaptureMode.available())
        (void)driver_->cuThreadExchangeStreamCaptureMode.status(&mode_);
}

} // namespace pycuda::detail

namespace pycuda {

bool default_stream_is_idle() {
    const detail::OutsideCaptures outside;
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver().cuStreamIsCapturing.status(nullptr, &capture) == CUDA_SUCCESS &&
           capture == CU_STREAM_CAPTURE_STATUS_NONE &&
           driver().cuStreamQuery.status(nullptr) == CUDA_SUCCESS;
}

} // namespace pycuda
