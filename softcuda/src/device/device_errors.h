// device_errors.h -- the errors of the CUDA runtime that device code may get, and their texts in
// device memory.
#pragma once

#include <cstdint>
#include <cuda.h>

namespace softcuda::device {

class Context;

/// Numbers of cudaError_t; most of them are also numbers of CUresult.
enum class DeviceError : std::uint32_t {
    Success = 0,
    InvalidValue = 1,
    MemoryAllocation = 2,
    InvalidConfiguration = 9,
    InvalidPitchValue = 12,
    InvalidDevicePointer = 17,
    InvalidMemcpyDirection = 21,
    LaunchPendingCountExceeded = 69,
    InvalidDeviceFunction = 98,
    InvalidDevice = 101,
    InvalidResourceHandle = 400,
    LaunchOutOfResources = 701,
    NotSupported = 801,
    Unknown = 999,
};

/// The runtime's error for a launch or a copy that the driver refuses with `result`.
[[nodiscard]] DeviceError device_error(CUresult result) noexcept;

/// The results of cudaGetErrorName and cudaGetErrorString for any number.
[[nodiscard]] const char *name_of_device_error(std::uint32_t error) noexcept;
[[nodiscard]] const char *text_of_device_error(std::uint32_t error) noexcept;

} // namespace softcuda::device
