// fake_driver.cpp -- a driver library with an old version and little memory, for core's tests.
//
// It is CUDA 12.2 without cuGetProcAddress, cuFuncGetParamInfo and later functions. It counts and
// records calls; tests read the records through fake_driver.h.
#include "fake_driver.h"

#include <cuda.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

FakeDriver fake;
thread_local std::vector<CUcontext> stack;
std::map<CUdeviceptr, std::size_t> allocations;

const CUcontext primary = reinterpret_cast<CUcontext>(0x1000);
const CUfunction kernel = reinterpret_cast<CUfunction>(0x2000);
const CUevent fake_event = reinterpret_cast<CUevent>(0x3000);

CUresult needs_context() { return stack.empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS; }

} // namespace

EXPORT FakeDriver *fake_driver() { return &fake; }

EXPORT CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
EXPORT CUresult cuDriverGetVersion(int *version) {
    *version = 12020;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorString(CUresult, const char **text) {
    *text = "text of the fake driver";
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetCount(int *count) {
    const char *devices = std::getenv("FAKE_DEVICES");
    *count = devices ? std::atoi(devices) : 1;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
    *value = attribute == CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y ? 65535 : 1024;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
    *context = primary;
    ++fake.primary_retains;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    --fake.primary_retains;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned *flags, int *active) {
    *flags = 0;
    *active = fake.primary_retains > 0;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned, CUdevice) {
    *context = reinterpret_cast<CUcontext>(0x1000 + 16 * ++fake.contexts_created);
    stack.push_back(*context);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxDestroy_v2(CUcontext) {
    ++fake.contexts_destroyed;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
    stack.push_back(context);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    if (stack.empty())
        return CUDA_ERROR_INVALID_CONTEXT;
    *context = stack.back();
    stack.pop_back();
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
    if (!stack.empty())
        stack.pop_back();
    if (context)
        stack.push_back(context);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = stack.empty() ? nullptr : stack.back();
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return needs_context();
}
EXPORT CUresult cuCtxSynchronize() { return needs_context(); }

EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    *free = fake.memory_size - fake.memory_used;
    *total = fake.memory_size;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    ++fake.allocations;
    if (stack.empty())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (fake.memory_used + bytes > fake.memory_size)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake.memory_used += bytes;
    *address = 0x10000 * static_cast<CUdeviceptr>(fake.allocations);
    allocations[*address] = bytes;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
    auto found = allocations.find(address);
    if (found == allocations.end())
        return CUDA_ERROR_INVALID_VALUE;
    if (stack.empty())
        return CUDA_ERROR_INVALID_CONTEXT;
    fake.memory_used -= found->second;
    allocations.erase(found);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                                   CUjit_option *names, void **values) {
    const auto *text = static_cast<const char *>(image);
    if (std::strncmp(text, "bad", 3) != 0) {
        *module = reinterpret_cast<CUmodule>(0x3000);
        return CUDA_SUCCESS;
    }
    for (unsigned i = 0; i < count; ++i)
        if (names[i] == CU_JIT_ERROR_LOG_BUFFER)
            std::strcpy(static_cast<char *>(values[i]), "line 1: syntax error\n");
    return CUDA_ERROR_INVALID_PTX;
}
EXPORT CUresult cuModuleUnload(CUmodule) {
    ++fake.modules_unloaded;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
    *function = kernel;
    return std::strcmp(name, "kernel") == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction) {
    *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS                ? 40
             : attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 512
                                                                    : 4096;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuLaunchKernel(CUfunction, unsigned, unsigned grid_y, unsigned, unsigned x,
                               unsigned y, unsigned z, unsigned shared, CUstream, void **,
                               void **extra) {
    if (stack.empty())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (grid_y > 65535 || x * y * z == 0 || x * y * z > 512 || shared > 4096)
        return CUDA_ERROR_INVALID_VALUE;
    std::size_t size = *static_cast<std::size_t *>(extra[3]);
    fake.last_arguments.assign(static_cast<const char *>(extra[1]), size);
    ++fake.launches;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamQuery(CUstream) {
    return fake.stream_is_busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
EXPORT CUresult cuMemHostAlloc(void **data, size_t bytes, unsigned) {
    *data = fake.has_pinned_memory ? std::malloc(bytes) : nullptr;
    return *data ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT CUresult cuMemFreeHost(void *data) {
    std::free(data);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuPointerGetAttribute(void *, CUpointer_attribute, CUdeviceptr) {
    return CUDA_ERROR_INVALID_VALUE; // memory of the host that no call has registered
}
/// The begin and the size of an allocation, the two attributes that core asks for together.
EXPORT CUresult cuPointerGetAttributes(unsigned, CUpointer_attribute *, void **results,
                                       CUdeviceptr address) {
    const auto found = allocations.find(address);
    const bool known = found != allocations.end();
    *static_cast<CUdeviceptr *>(results[0]) = known ? found->first : 0;
    *static_cast<size_t *>(results[1]) = known ? found->second : 0;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t bytes) {
    fake.copied += bytes;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuEventCreate(CUevent *event, unsigned) {
    if (!fake.has_events)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *event = fake_event;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuEventDestroy_v2(CUevent) { return CUDA_SUCCESS; }
EXPORT CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
EXPORT CUresult cuEventQuery(CUevent) { return cuStreamQuery(nullptr); }
EXPORT CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
EXPORT CUresult scuCtxInterrupt(CUcontext) {
    ++fake.interrupts;
    return CUDA_SUCCESS;
}
