// outside_captures.cpp -- exchanges the thread's capture mode.
#include "context/outside_captures.h"

#include <pycuda/driver.h>

namespace pycuda::detail {

OutsideCaptures::OutsideCaptures() noexcept : driver_(driver_for_cleanup()) { exchange(); }

void OutsideCaptures::exchange() noexcept {
    if (driver_ != nullptr && driver_->cuThreadExchangeStreamCaptureMode.available())
        (void)driver_->cuThreadExchangeStreamCaptureMode.status(&mode_);
}

} // namespace pycuda::detail
