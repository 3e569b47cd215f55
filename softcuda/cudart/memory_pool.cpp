// memory_pool.cpp -- stream-ordered allocation, and memory pools.
#include "call.h"
#include "default_stream.h"

using namespace softcudart;

cudaError_t cudaMallocAsync(void **pointer, std::size_t bytes, cudaStream_t stream) {
    return with_context([&] {
        require_non_null(pointer);
        CUdeviceptr address = 0;
        if (bytes > 0)
            check(cuMemAllocAsync(&address, bytes, stream_of(stream)));
        *pointer = as<void *>(address);
    });
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    return with_context([&] {
        require_non_null(pointer);
        CUdeviceptr address = 0;
        if (bytes > 0)
            check(cuMemAllocFromPoolAsync(&address, bytes, pool, stream_of(stream)));
        *pointer = as<void *>(address);
    });
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    return with_context([&] {
        if (pointer)
            check(cuMemFreeAsync(address_of(pointer), stream_of(stream)));
    });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties) {
    return forward<cuMemPoolCreate>(pool, as<const CUmemPoolProps *>(properties));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { return forward<cuMemPoolDestroy>(pool); }

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes) {
    return forward<cuMemPoolTrimTo>(pool, bytes);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    return forward<cuMemPoolGetAttribute>(pool, static_cast<CUmemPool_attribute>(attribute), value);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    return forward<cuMemPoolSetAttribute>(pool, static_cast<CUmemPool_attribute>(attribute), value);
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 cudaMemLocation *location) {
    return forward<cuMemPoolGetAccess>(as<CUmemAccess_flags *>(flags), pool,
                                       as<CUmemLocation *>(location));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *accesses,
                                 std::size_t count) {
    return forward<cuMemPoolSetAccess>(pool, as<const CUmemAccessDesc *>(accesses), count);
}

cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool,
                                               cudaMemAllocationHandleType type,
                                               unsigned int flags) {
    return forward<cuMemPoolExportToShareableHandle>(
        handle, pool, static_cast<CUmemAllocationHandleType>(type), flags);
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
                                                 cudaMemAllocationHandleType type,
                                                 unsigned int flags) {
    return forward<cuMemPoolImportFromShareableHandle>(
        pool, handle, static_cast<CUmemAllocationHandleType>(type), flags);
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData *data, void *pointer) {
    return forward<cuMemPoolExportPointer>(as<CUmemPoolPtrExportData *>(data), address_of(pointer));
}

cudaError_t cudaMemPoolImportPointer(void **pointer, cudaMemPool_t pool,
                                     cudaMemPoolPtrExportData *data) {
    return forward<cuMemPoolImportPointer>(as<CUdeviceptr *>(pointer), pool,
                                           as<CUmemPoolPtrExportData *>(data));
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, cudaMemLocation *location,
                                     cudaMemAllocationType type) {
    return forward<cuMemGetDefaultMemPool>(pool, as<CUmemLocation *>(location),
                                           static_cast<CUmemAllocationType>(type));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, cudaMemLocation *location,
                              cudaMemAllocationType type) {
    return forward<cuMemGetMemPool>(pool, as<CUmemLocation *>(location),
                                    static_cast<CUmemAllocationType>(type));
}

cudaError_t cudaMemSetMemPool(cudaMemLocation *location, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
    return forward<cuMemSetMemPool>(as<CUmemLocation *>(location),
                                    static_cast<CUmemAllocationType>(type), pool);
}
