// wait.h -- interruptible waits for the device.
#pragma once

#include <functional>

namespace pycuda {

/// Called every few milliseconds during a wait, in the waiting thread. False ends the wait: the
/// device is asked to stop (see interrupt_device_work), and Interrupted is thrown. Exceptions of
/// the function are passed on. If the function is empty, the driver waits, without polling.
using KeepWaiting = std::function<bool()>;

} // namespace pycuda
