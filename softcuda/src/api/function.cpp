// function.cpp -- functions and their attributes.
#include "api/handles.h"

using namespace softcuda;
using device::Context;
using device::Function;

namespace {

/// A call for one function: body(function).
template <class Body> CUresult with_function(CUfunction handle, Body &&body) noexcept {
    return api::with_context<api::InCapture::Permitted>(
        [&](Context &) { return body(*api::find_function(handle)); });
}

} // namespace

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
    return with_function(handle, [&](Function &function) {
        api::require_non_null(value);
        *value = function.attribute(attribute);
    });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    return with_function(handle,
                         [&](Function &function) { function.set_attribute(attribute, value); });
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
    return with_function(handle, [&](Function &) { return cuCtxSetCacheConfig(config); });
}

CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
    return with_function(handle, [&](Function &) {
        device::require(config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
                            config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE,
                        CUDA_ERROR_INVALID_VALUE);
    });
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction handle) {
    return with_function(handle, [&](Function &function) {
        api::require_non_null(module);
        *module = reinterpret_cast<CUmodule>(&function.module());
    });
}

CUresult cuFuncGetName(const char **name, CUfunction handle) {
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    return with_function(handle, [&](Function &function) {
        api::require_non_null(name);
        *name = function.info().name.c_str();
    });
}

CUresult cuFuncGetParamInfo(CUfunction handle, std::size_t index, std::size_t *offset,
                            std::size_t *size) {
    return with_function(handle, [&](Function &function) {
        api::require_non_null(offset);
        device::require(index < function.info().parameters.size(), CUDA_ERROR_INVALID_VALUE);
        *offset = function.info().parameters[index].offset;
        if (size)
            *size = function.info().parameters[index].size;
    });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle) {
    return with_function(handle, [&](Function &) {
        api::require_non_null(state);
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
    });
}

CUresult cuFuncLoad(CUfunction handle) {
    return with_function(handle, [](Function &) {});
}
