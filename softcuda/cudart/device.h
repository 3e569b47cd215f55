// device.h -- the calling thread's device, and the primary contexts that the library keeps.
#pragma once

#include "call.h"

namespace softcudart {

/// How many devices the driver has. Throws Failure.
int device_count();

/// Throws Failure(invalid device) for a number that no device has.
void require_device(int device);

/// The device of the thread's current context; without one, the device that the thread chose.
int current_device();

/// The device's primary context, kept until the process ends. Throws Failure.
CUcontext primary_context(int device);

/// Makes a device's primary context current while it exists.
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
