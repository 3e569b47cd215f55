// outside_captures.h -- calls of the driver that are not part of the graph that a thread records.
#pragma once

#include <pycuda/driver.h>

#include <cuda.h>

namespace pycuda::detail {

/// In the scope of this object, the thread may allocate, free, wait for other streams and load code
/// while a stream is being captured. The driver refuses such calls and ends the capture otherwise,
/// because it cannot know that the recorded work does not depend on them.
class [[nodiscard]] OutsideCaptures {
  public:
    OutsideCaptures() noexcept : driver_(driver_for_cleanup()) { exchange(); }
    ~OutsideCaptures() { exchange(); }
    OutsideCaptures(const OutsideCaptures &) = delete;
    OutsideCaptures &operator=(const OutsideCaptures &) = delete;

  private:
    void exchange() noexcept {
        if (driver_ != nullptr && driver_->cuThreadExchangeStreamCaptureMode.available())
            (void)driver_->cuThreadExchangeStreamCaptureMode.status(&mode_);
    }

    const Driver *driver_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

} // namespace pycuda::detail
