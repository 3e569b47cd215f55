// handles.h -- finds the objects of handles of code.
#pragma once

#include "api/call.h"
#include "device/module.h"
#include "device/registry.h"

namespace softcuda::api {

/// Throws Error(invalid handle). The result keeps the function's module alive.
inline std::shared_ptr<device::Module> find_module(CUmodule handle) {
    std::shared_ptr<device::Module> module = device::registry<device::Module>().find(handle);
    device::require(module != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return module;
}

/// `handle` may also be a CUkernel.
std::shared_ptr<device::Function> find_function(CUfunction handle);

inline CUfunction handle_of(device::Function &function) {
    return reinterpret_cast<CUfunction>(&function);
}

} // namespace softcuda::api
