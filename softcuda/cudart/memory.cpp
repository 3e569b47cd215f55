// memory.cpp -- device memory, host memory and managed memory.
#include "default_stream.h"
#include "device.h"
#include "version.h"

#include <cstring>

namespace softcudart {
namespace {

/// Rows of a pitched allocation may be read in elements of up to this number of bytes.
constexpr unsigned kElementBytes = 16;

/// Memory for `rows` rows of `width` bytes; null if it is empty.
void *allocate_rows(std::size_t &pitch, std::size_t width, std::size_t rows) {
    CUdeviceptr address = 0;
    pitch = 0;
    if (width > 0 && rows > 0)
        check(cuMemAllocPitch(&address, &pitch, width, rows, kElementBytes));
    return as<void *>(address);
}

struct Known {
    CUmemorytype type{};
    int managed = 0;
    int device = cudaInvalidDeviceId;
    CUdeviceptr device_pointer = 0;
    void *host_pointer = nullptr;
};

/// All zero for a pointer that the driver does not know.
Known ask(const void *pointer) {
    Known known;
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *values[] = {&known.type, &known.managed, &known.device, &known.device_pointer,
                      &known.host_pointer};
    check(cuPointerGetAttributes(5, attributes, values, address_of(pointer)));
    return known;
}

cudaMemoryType type_of(const Known &known) {
    if (known.managed)
        return cudaMemoryTypeManaged;
    if (known.type == CU_MEMORYTYPE_HOST)
        return cudaMemoryTypeHost;
    return known.type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
}

} // namespace
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaMalloc(void **pointer, std::size_t bytes) {
    return with_context([&] {
        require_non_null(pointer);
        CUdeviceptr address = 0;
        if (bytes > 0)
            check(cuMemAlloc(&address, bytes));
        *pointer = as<void *>(address);
    });
}

// A null pointer frees nothing, but the call is refused in captures as with any other one.
cudaError_t cudaFree(void *pointer) {
    return with_context([&] { check(cuMemFree(address_of(pointer))); });
}

cudaError_t cudaMallocPitch(void **pointer, std::size_t *pitch, std::size_t width,
                            std::size_t height) {
    return with_context([&] {
        require_non_null(pointer, pitch);
        *pointer = allocate_rows(*pitch, width, height);
    });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *result, cudaExtent extent) {
    return with_context([&] {
        require_non_null(result);
        std::size_t rows = 0;
        require(!__builtin_mul_overflow(extent.height, extent.depth, &rows));
        cudaPitchedPtr made{};
        made.ptr = allocate_rows(made.pitch, extent.width, rows);
        made.xsize = extent.width;
        made.ysize = extent.height;
        *result = made;
    });
}

cudaError_t cudaMallocManaged(void **pointer, std::size_t bytes, unsigned int flags) {
    return forward<cuMemAllocManaged>(as<CUdeviceptr *>(pointer), bytes, flags);
}

cudaError_t cudaMallocHost(void **pointer, std::size_t bytes) {
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void **pointer, std::size_t bytes, unsigned int flags) {
    return with_context([&] {
        require_non_null(pointer);
        *pointer = nullptr;
        if (bytes > 0)
            check(cuMemHostAlloc(pointer, bytes, flags));
    });
}

cudaError_t cudaFreeHost(void *pointer) {
    return with_context([&] { check(cuMemFreeHost(pointer)); });
}

cudaError_t cudaHostRegister(void *pointer, std::size_t bytes, unsigned int flags) {
    return forward<cuMemHostRegister>(pointer, bytes, flags);
}

cudaError_t cudaHostUnregister(void *pointer) { return forward<cuMemHostUnregister>(pointer); }

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags) {
    return forward<cuMemHostGetDevicePointer>(as<CUdeviceptr *>(device), host, flags);
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *pointer) {
    return forward<cuMemHostGetFlags>(flags, pointer);
}

cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total) {
    return forward<cuMemGetInfo>(free, total);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *result, const void *pointer) {
    return with_context([&] {
        require_non_null(result);
        const Known known = ask(pointer);
        if (has_newer_fields())
            std::memset(result->reserved, 0, sizeof result->reserved);
        result->type = type_of(known);
        result->device = known.device;
        result->devicePointer = as<void *>(known.device_pointer);
        result->hostPointer = result->type == cudaMemoryTypeDevice ? nullptr : known.host_pointer;
    });
}

cudaError_t cudaMemRangeGetAttribute(void *data, std::size_t bytes, cudaMemRangeAttribute attribute,
                                     const void *pointer, std::size_t count) {
    return forward<cuMemRangeGetAttribute>(
        data, bytes, static_cast<CUmem_range_attribute>(attribute), address_of(pointer), count);
}

cudaError_t cudaMemRangeGetAttributes(void **data, std::size_t *sizes,
                                      cudaMemRangeAttribute *attributes,
                                      std::size_t attribute_count, const void *pointer,
                                      std::size_t count) {
    return forward<cuMemRangeGetAttributes>(data, sizes, as<CUmem_range_attribute *>(attributes),
                                            attribute_count, address_of(pointer), count);
}

cudaError_t cudaMemDiscardBatchAsync(void **pointers, std::size_t *sizes, std::size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
    return forward<cuMemDiscardBatchAsync>(as<CUdeviceptr *>(pointers), sizes, count, flags,
                                           stream_of(stream));
}

cudaError_t cudaMemPrefetchBatchAsync(void **pointers, std::size_t *sizes, std::size_t count,
                                      cudaMemLocation *locations, std::size_t *indices,
                                      std::size_t location_count, unsigned long long flags,
                                      cudaStream_t stream) {
    return forward<cuMemPrefetchBatchAsync>(as<CUdeviceptr *>(pointers), sizes, count,
                                            as<CUmemLocation *>(locations), indices, location_count,
                                            flags, stream_of(stream));
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **pointers, std::size_t *sizes,
                                                std::size_t count, cudaMemLocation *locations,
                                                std::size_t *indices, std::size_t location_count,
                                                unsigned long long flags, cudaStream_t stream) {
    return forward<cuMemDiscardAndPrefetchBatchAsync>(as<CUdeviceptr *>(pointers), sizes, count,
                                                      as<CUmemLocation *>(locations), indices,
                                                      location_count, flags, stream_of(stream));
}
