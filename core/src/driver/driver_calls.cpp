// driver_calls.cpp -- a few calls of the driver, for sources that do not need the whole table.
#include <pycuda/driver_calls.h>

#include <pycuda/driver.h>

namespace pycuda {

bool driver_is_usable() noexcept { return driver_for_cleanup() != nullptr; }

const std::string &driver_path() { return driver().path(); }

ImageKind loaded_image_kind() { return driver().image_kind(); }

bool has_current_context() noexcept {
    const Driver *loaded = driver_for_cleanup();
    CUcontext handle = nullptr;
    return loaded != nullptr && loaded->cuCtxGetCurrent.status(&handle) == CUDA_SUCCESS &&
           handle != nullptr;
}

void settle_current_context() noexcept {
    if (const Driver *loaded = driver_for_cleanup())
        (void)loaded->cuCtxSynchronize.status();
}

bool is_capturing(CUstream stream) {
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    driver().cuStreamIsCapturing(stream, &capture);
    return capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool capture_blocks_default_stream() {
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver().cuStreamIsCapturing.status(nullptr, &capture) ==
           CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUcontext context_of(CUstream stream) {
    CUcontext own = nullptr;
    (void)driver().cuStreamGetCtx.status(stream, &own);
    return own;
}

std::optional<int> device_of(CUdeviceptr address) {
    int device = 0;
    if (driver().cuPointerGetAttribute.status(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                              address) != CUDA_SUCCESS)
        return std::nullopt;
    return device;
}

std::optional<int> only_device_of(CUdeviceptr address) {
    int type = 0, managed = 0, device = 0;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&type, &managed, &device};
    const CUresult result = driver().cuPointerGetAttributes.status(3, attributes, values, address);
    if (result != CUDA_SUCCESS || type != CU_MEMORYTYPE_DEVICE || managed != 0)
        return std::nullopt;
    return device;
}

CUcontext context_of(CUdeviceptr address) {
    CUcontext own = nullptr;
    (void)driver().cuPointerGetAttribute.status(&own, CU_POINTER_ATTRIBUTE_CONTEXT, address);
    return own;
}

void start_profiler() { driver().cuProfilerStart(); }
void stop_profiler() { driver().cuProfilerStop(); }

} // namespace pycuda
