// device.h -- the calling thread's device, and the primary contexts that the library keeps.
#pragma once

#include "call.h"

namespace softcudart {

/// The driver's number of devices. Throws Failure.
int device_count();

/// Throws Failure(invalid device) if there is no device with this number.
void require_device(int device);

/// The device of the thread's current context; without a context, the device that the thread has
/// set.
int current_device();

/// The device's primary context, kept until the process ends. Throws Failure.
CUcontext primary_context(int device);

/// Makes a device's primary context current in a scope.
class OnDevice {
  public:
    explicit OnDevice(int device);
    OnDevice(const OnDevice &) = delete;
    OnDevice &operator=(const OnDevice &) = delete;
    ~OnDevice();
};

/// An attribute of a device. Throws Failure.
int attribute_of(int device, CUdevice_attribute attribute);

} // namespace softcudart
