// device.cpp -- selection of devices, their attributes, limits and hints.
#include "device.h"

#include "channel.h"
#include "error.h"
#include "older_api.h"
#include "program.h"
#include "properties.h"

#include <map>
#include <mutex>

namespace softcudart {
namespace {

thread_local int chosen_device = 0;

std::mutex contexts_mutex;
std::map<int, CUcontext> contexts; ///< protected by contexts_mutex

} // namespace

void initialize() {
    static const CUresult result = cuInit(0);
    check(result);
}

int device_count() {
    initialize();
    int count = 0;
    check(cuDeviceGetCount(&count));
    require(count > 0, cudaErrorNoDevice);
    return count;
}

void require_device(int device) {
    require(device >= 0 && device < device_count(), cudaErrorInvalidDevice);
}

CUcontext primary_context(int device) {
    const std::lock_guard lock(contexts_mutex);
    CUcontext &context = contexts[device];
    if (!context)
        check(cuDevicePrimaryCtxRetain(&context, device));
    return context;
}

int current_device() {
    initialize();
    CUcontext context = nullptr;
    check(cuCtxGetCurrent(&context));
    if (!context)
        return chosen_device;
    CUdevice device = 0;
    check(cuCtxGetDevice(&device));
    return device;
}

void require_context() {
    initialize();
    CUcontext context = nullptr;
    check(cuCtxGetCurrent(&context));
    if (context)
        return;
    device_count();
    check(cuCtxSetCurrent(primary_context(chosen_device)));
}

OnDevice::OnDevice(int device) {
    require_device(device);
    check(cuCtxPushCurrent(primary_context(device)));
}

OnDevice::~OnDevice() {
    CUcontext context = nullptr;
    cuCtxPopCurrent(&context);
}

int attribute_of(int device, CUdevice_attribute attribute) {
    int value = 0;
    check(cuDeviceGetAttribute(&value, attribute, device));
    return value;
}

} // namespace softcudart

using namespace softcudart;

cudaError_t cudaGetDeviceCount(int *count) {
    return guarded([&] {
        require_non_null(count);
        *count = 0;
        *count = device_count();
    });
}

cudaError_t cudaGetDevice(int *device) {
    return guarded([&] {
        require_non_null(device);
        device_count();
        *device = current_device();
    });
}

cudaError_t cudaSetDevice(int device) {
    return guarded([&] {
        require_device(device);
        check(cuCtxSetCurrent(primary_context(device)));
        chosen_device = device;
    });
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
    return guarded([&] {
        require((flags & ~cudaInitDeviceFlagsAreValid) == 0);
        require_device(device);
        if (flags & cudaInitDeviceFlagsAreValid)
            check(cuDevicePrimaryCtxSetFlags(device, device_flags & ~cudaDeviceMapHost));
        primary_context(device);
    });
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
    return guarded([&] {
        require(count >= 0 && (devices || count == 0));
        for (int i = 0; i < count; i++)
            require_device(devices[i]);
        if (count > 0) // all devices are equal, so the first one is selected
            chosen_device = devices[0];
    });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    return with_driver([&] {
        device_count();
        constexpr unsigned known = cudaDeviceMask;
        require((flags & ~known) == 0 && (flags & cudaDeviceScheduleMask) != 3);
        check(cuDevicePrimaryCtxSetFlags(current_device(), flags & ~cudaDeviceMapHost));
    });
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags) {
    return with_driver([&] {
        require_non_null(flags);
        int active = 0;
        check(cuDevicePrimaryCtxGetState(current_device(), flags, &active));
        *flags |= cudaDeviceMapHost; // device memory is always mapped
    });
}

cudaError_t cudaDeviceReset() {
    return with_driver([&] {
        const int device = current_device();
        check(cuDevicePrimaryCtxReset(device));
        forget_error();
        load_managed_variables_again(device);
    });
}

cudaError_t cudaDeviceSynchronize() { return forward<cuCtxSynchronize>(); }

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    return guarded([&] {
        require_non_null(value);
        require_device(device);
        *value = attribute_of(device, static_cast<CUdevice_attribute>(attribute));
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *bus_id) {
    return with_driver([&] { check(cuDeviceGetByPCIBusId(device, bus_id)); });
}

cudaError_t cudaDeviceGetPCIBusId(char *bus_id, int size, int device) {
    return guarded([&] {
        require_device(device);
        check(cuDeviceGetPCIBusId(bus_id, size, device));
    });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    return forward<cuCtxSetLimit>(static_cast<CUlimit>(limit), value);
}

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
    return forward<cuCtxGetLimit>(value, static_cast<CUlimit>(limit));
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config) {
    return forward<cuCtxGetCacheConfig>(as<CUfunc_cache *>(config));
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    return forward<cuCtxSetCacheConfig>(static_cast<CUfunc_cache>(config));
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) {
    return with_context([&] {
        require_non_null(config);
        *config = cudaSharedMemBankSizeFourByte; // the only value of devices since Maxwell
    });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
    return with_context([&] {
        require(config >= cudaSharedMemBankSizeDefault &&
                config <= cudaSharedMemBankSizeEightByte); // a hint
    });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    return forward<cuCtxGetStreamPriorityRange>(least, greatest);
}

cudaError_t cudaCtxResetPersistingL2Cache() { return forward<cuCtxResetPersistingL2Cache>(); }

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const cudaChannelFormatDesc *format,
                                                 int device) {
    return guarded([&] {
        require_non_null(width, format);
        require_device(device);
        const Channel channel = channel_of(*format);
        check(cuDeviceGetTexture1DLinearMaxWidth(width, channel.format, channel.count, device));
    });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    return with_driver([&] { check(cuDeviceGetDefaultMemPool(pool, device)); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    return with_driver([&] { check(cuDeviceGetMemPool(pool, device)); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return with_driver([&] { check(cuDeviceSetMemPool(device, pool)); });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void *value) {
    return with_driver([&] {
        check(cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute),
                                           value));
    });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void *value) {
    return with_driver([&] {
        check(cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute),
                                           value));
    });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
    return with_driver([&] { check(cuDeviceGraphMemTrim(device)); });
}

cudaError_t cudaDriverGetVersion(int *version) {
    return guarded([&] { check(cuDriverGetVersion(version)); });
}

// Not declared in cuda.h, but in a header that the wheel nvidia-cuda-runtime lacks.
extern "C" CUresult cuProfilerStart();
extern "C" CUresult cuProfilerStop();

// There is no profiler, so the calls have no effect.
cudaError_t cudaProfilerStart() { return forward<cuProfilerStart>(); }
cudaError_t cudaProfilerStop() { return forward<cuProfilerStop>(); }

// Rates a device: counts the wanted properties that it has, in the order of NVIDIA's manual.
cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *wanted) {
    return guarded([&] {
        require_non_null(device, wanted);
        const int count = device_count();
        int best_score = -1;
        for (int candidate = 0; candidate < count; candidate++) {
            cudaDeviceProp has{};
            fill_properties(has, candidate);
            const int score = (wanted->major <= has.major) + (wanted->minor <= has.minor) +
                              (wanted->totalGlobalMem <= has.totalGlobalMem) +
                              (wanted->multiProcessorCount <= has.multiProcessorCount) +
                              (wanted->sharedMemPerBlock <= has.sharedMemPerBlock);
            if (score > best_score) {
                best_score = score;
                *device = candidate;
            }
        }
    });
}
