// array.h -- finds the arrays of handles.
#pragma once

#include "api/call.h"
#include "device/array.h"
#include "device/registry.h"

namespace softcuda::api {

/// Throws Error(invalid handle).
inline std::shared_ptr<device::Array> find_array(CUarray handle) {
    std::shared_ptr<device::Array> array = device::registry<device::Array>().find(handle);
    device::require(array != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return array;
}

} // namespace softcuda::api
