// outside_captures.h -- calls of the driver that are not part of the graph that a thread records.
#pragma once

#include <cuda.h>

namespace pycuda {
class Driver;
}

namespace pycuda::detail {

/// In the scope of this object, the thread may allocate, free, wait for other streams and load code
/// while a stream is being captured. The driver refuses such calls and ends the capture otherwise,
/// because it cannot know that the recorded work does not depend on them.
class [[nodiscard]] OutsideCaptures {
  public:
    OutsideCaptures() noexcept;
    ~OutsideCaptures() { exchange(); }
    OutsideCaptures &operator=(OutsideCaptures &&) = delete; // no copies either

  private:
    void exchange() noexcept;

    const Driver *driver_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

} // namespace pycuda::detail
