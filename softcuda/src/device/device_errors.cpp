// device_errors.cpp -- the table of errors.
#include "device/device_errors.h"

namespace softcuda::device {
namespace {

struct Row {
    DeviceError error;
    const char *name;
    const char *text;
};

constexpr Row kRows[] = {
    {DeviceError::Success, "cudaSuccess", "no error"},
    {DeviceError::InvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {DeviceError::MemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {DeviceError::InvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {DeviceError::InvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {DeviceError::InvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {DeviceError::InvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {DeviceError::LaunchPendingCountExceeded, "cudaErrorLaunchPendingCountExceeded",
     "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"},
    {DeviceError::InvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
     "invalid device function"},
    {DeviceError::InvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {DeviceError::InvalidResourceHandle, "cudaErrorInvalidResourceHandle",
     "invalid resource handle"},
    {DeviceError::LaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {DeviceError::NotSupported, "cudaErrorNotSupported", "operation not supported"},
    {DeviceError::Unknown, "cudaErrorUnknown", "unknown error"},
};

const Row *find(std::uint32_t error) noexcept {
    for (const Row &row : kRows)
        if (static_cast<std::uint32_t>(row.error) == error)
            return &row;
    return nullptr;
}

} // namespace

DeviceError device_error(CUresult result) noexcept {
    return find(result) ? static_cast<DeviceError>(result) : DeviceError::Unknown;
}

const char *name_of_device_error(std::uint32_t error) noexcept {
    const Row *row = find(error);
    return row ? row->name : "unrecognized error code";
}

const char *text_of_device_error(std::uint32_t error) noexcept {
    const Row *row = find(error);
    return row ? row->text : "unrecognized error code";
}

} // namespace softcuda::device
