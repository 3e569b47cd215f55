// older_forms.cpp -- versions of functions that differ only in name from the version in the rest of
// api/, and functions that old programs call.
#include "api/array.h"
#include "api/default_stream.h"
#include "api/handles.h"
#include "device/green_context.h"

using namespace softcuda;
using device::Context;

#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent
#undef cuEventDestroy
#undef cuMemHostRegister
#undef cuStreamDestroy
#undef cuStreamGetCtx

SCU_EXPORT CUresult CUDAAPI cuCtxCreate_v2(CUcontext *result, unsigned int flags, CUdevice device);

SCU_EXPORT CUresult CUDAAPI cuCtxCreate(CUcontext *result, unsigned int flags, CUdevice device) {
    return cuCtxCreate_v2(result, flags, device);
}

SCU_EXPORT CUresult CUDAAPI cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }

SCU_EXPORT CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) {
    return cuCtxPushCurrent_v2(context);
}

SCU_EXPORT CUresult CUDAAPI cuCtxPopCurrent(CUcontext *context) {
    return cuCtxPopCurrent_v2(context);
}

SCU_EXPORT CUresult CUDAAPI cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }

SCU_EXPORT CUresult CUDAAPI cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

SCU_EXPORT CUresult CUDAAPI cuMemHostRegister(void *pointer, std::size_t bytes,
                                              unsigned int flags) {
    return cuMemHostRegister_v2(pointer, bytes, flags);
}

namespace {

/// Calls body() with `handle` as the current context, or with the current context for null.
template <class Body> CUresult in_context(CUcontext handle, Body &&body) noexcept {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) -> CUresult {
        if (!handle)
            return body();
        const auto green = device::registry<device::GreenContext>().find(handle);
        const auto context =
            green ? green->context().shared_from_this() : device::registry<Context>().find(handle);
        device::require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        device::current_context::push(*context, green);
        const CUresult result = body();
        device::current_context::pop();
        return result;
    });
}

} // namespace

SCU_EXPORT CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice *device, CUcontext context) {
    return in_context(context, [&] { return cuCtxGetDevice(device); });
}

SCU_EXPORT CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext context) {
    return in_context(context, [] { return cuCtxSynchronize(); });
}

SCU_EXPORT CUresult CUDAAPI cuStreamGetCtx(CUstream stream, CUcontext *context);

SCU_EXPORT CUresult CUDAAPI cuStreamGetDevice(CUstream stream, CUdevice *device) {
    return api::with_context_of(stream, [&](Context &context) {
        api::require_non_null(device);
        *device = api::find_stream(context, stream)->context().device().ordinal();
    });
}

// A use count of the current context, which CUDA no longer has; here it is always 1.
CUresult cuCtxAttach(CUcontext *result, unsigned int flags) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(result);
        device::require(flags == 0, CUDA_ERROR_INVALID_VALUE);
        *result = reinterpret_cast<CUcontext>(&context);
    });
}

CUresult cuCtxDetach(CUcontext handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        device::require(handle == reinterpret_cast<CUcontext>(&context),
                        CUDA_ERROR_INVALID_CONTEXT);
    });
}

SCU_EXPORT CUresult CUDAAPI cuFuncGetParamCount(CUfunction function, std::size_t *count) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(count);
        *count = api::find_function(function)->info().parameters.size();
    });
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(std::size_t *width, CUarray_format format,
                                            unsigned channels, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](device::Device &device) {
        api::require_non_null(width);
        static_cast<void>(device::texel_type(format)); // throws for an invalid format
        device::require(channels == 1 || channels == 2 || channels == 4, CUDA_ERROR_INVALID_VALUE);
        *width = static_cast<std::size_t>(
            *device.attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH));
    });
}
