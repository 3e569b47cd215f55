// memory_pool.cpp -- stream-ordered allocation and memory pools.
#include "device/memory_pool.h"
#include "api/call.h"
#include "api/default_stream.h"
#include "device/graphs/capture.h"
#include "device/pool_file.h"
#include "device/registry.h"

#include <cstring>
#include <fcntl.h>

using namespace softcuda;
using device::Context;
using device::MemoryPool;
using device::PoolFile;
using device::PoolPlace;

namespace {

std::shared_ptr<MemoryPool> find_pool(CUmemoryPool handle) {
    std::shared_ptr<MemoryPool> pool = device::registry<MemoryPool>().find(handle);
    device::require(pool != nullptr, CUDA_ERROR_INVALID_VALUE);
    return pool;
}

CUmemoryPool handle_of(const std::shared_ptr<MemoryPool> &pool) {
    return reinterpret_cast<CUmemoryPool>(pool.get());
}

/// The data that one process sends to another for memory in a shared pool.
struct SharedPointer {
    char maker[8] = {'s', 'o', 'f', 't', 'c', 'u', 'd', 'a'};
    std::uint64_t file = 0; ///< PoolFile::id()
    std::uint64_t offset = 0, bytes = 0;
};
static_assert(sizeof(SharedPointer) <= sizeof(CUmemPoolPtrExportData));

void require_descriptor(CUmemAllocationHandleType type, unsigned long long flags) {
    device::require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && flags == 0,
                    CUDA_ERROR_INVALID_VALUE);
}

bool is_64_bit(CUmemPool_attribute attribute) {
    return attribute >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
}

} // namespace

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *result, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](device::Device &device) {
        api::require_non_null(result);
        *result = handle_of(device.default_pool());
    });
}

CUresult cuDeviceGetMemPool(CUmemoryPool *result, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](device::Device &device) {
        api::require_non_null(result);
        *result = handle_of(device.current_pool());
    });
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
    return api::with_device<api::InCapture::Refused>(ordinal, [&](device::Device &device) {
        const std::shared_ptr<MemoryPool> pool = find_pool(handle);
        device::require(pool->place().is_device_memory() && &pool->device() == &device,
                        CUDA_ERROR_INVALID_VALUE);
        device.set_current_pool(pool);
    });
}

SCU_EXPORT CUresult CUDAAPI cuMemGetDefaultMemPool(CUmemoryPool *result, CUmemLocation *location,
                                                   CUmemAllocationType type) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result, location);
        *result = handle_of(default_pool(PoolPlace::of(type, *location)));
    });
}

SCU_EXPORT CUresult CUDAAPI cuMemGetMemPool(CUmemoryPool *result, CUmemLocation *location,
                                            CUmemAllocationType type) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result, location);
        *result = handle_of(current_pool(PoolPlace::of(type, *location)));
    });
}

SCU_EXPORT CUresult CUDAAPI cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
                                            CUmemoryPool handle) {
    return api::with_system<api::InCapture::Refused>([&](device::System &) {
        api::require_non_null(location);
        const auto place = PoolPlace::of(type, *location);
        const std::shared_ptr<MemoryPool> pool = find_pool(handle);
        device::require(pool->place() == place, CUDA_ERROR_INVALID_VALUE);
        set_current_pool(place, pool);
    });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *result, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
    return api::outside_host_function(stream, [&](Context &context) {
        api::require_non_null(result);
        const std::shared_ptr<device::Stream> in = api::find_stream(context, stream);
        device::capture::forbid_unsafe_calls(*in);
        *result = find_pool(pool)->allocate(*in, bytes);
    });
}

CUresult cuMemAllocAsync(CUdeviceptr *result, std::size_t bytes, CUstream stream) {
    return api::outside_host_function(stream, [&](Context &context) {
        api::require_non_null(result);
        const std::shared_ptr<device::Stream> in = api::find_stream(context, stream);
        device::capture::forbid_unsafe_calls(*in);
        *result = context.device().current_pool()->allocate(*in, bytes);
    });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    return api::outside_host_function(stream, [&](Context &context) {
        const std::shared_ptr<device::Stream> in = api::find_stream(context, stream);
        device::capture::forbid_unsafe_calls(*in);
        if (address != 0)
            MemoryPool::free(*in, address);
    });
}

CUresult cuMemPoolCreate(CUmemoryPool *result, const CUmemPoolProps *properties) {
    return api::with_system<api::InCapture::Refused>([&](device::System &) {
        device::refuse_in_host_function();
        api::require_non_null(result, properties);
        const auto place = PoolPlace::of(properties->allocType, properties->location);
        device::require(properties->usage == 0, CUDA_ERROR_NOT_SUPPORTED);
        const bool shared = properties->handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        device::require(shared || properties->handleTypes == CU_MEM_HANDLE_TYPE_NONE,
                        CUDA_ERROR_NOT_SUPPORTED);
        device::require(properties->maxSize == 0 || place.type == CU_MEM_ALLOCATION_TYPE_PINNED,
                        CUDA_ERROR_INVALID_VALUE);
        auto pool = std::make_shared<MemoryPool>(
            place, properties->maxSize,
            shared ? std::make_shared<PoolFile>(place.device().ordinal()) : nullptr);
        device::registry<MemoryPool>().add(pool);
        *result = handle_of(pool);
    });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
    return api::with_system<api::InCapture::Refused>([&](device::System &) {
        const std::shared_ptr<MemoryPool> pool = find_pool(handle);
        const PoolPlace &place = pool->place();
        device::require(pool != default_pool(place), CUDA_ERROR_INVALID_VALUE);
        if (current_pool(place) == pool)
            set_current_pool(place, default_pool(place));
        device::registry<MemoryPool>().remove(handle);
    });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t) {
    return api::with_system<api::InCapture::Refused>([&](device::System &) {
        device::refuse_in_host_function();
        find_pool(handle); // no unused memory is kept
    });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value) {
    return api::with_system<api::InCapture::Refused>([&](device::System &) {
        api::require_non_null(value);
        const std::uint64_t number = find_pool(handle)->attribute(attribute);
        const int narrow = static_cast<int>(number);
        if (is_64_bit(attribute))
            std::memcpy(value, &number, sizeof number);
        else
            std::memcpy(value, &narrow, sizeof narrow);
    });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value) {
    return api::with_system<api::InCapture::Refused>([&](device::System &) {
        api::require_non_null(value);
        std::uint64_t number = 0;
        int narrow = 0;
        if (is_64_bit(attribute)) {
            std::memcpy(&number, value, sizeof number);
        } else {
            std::memcpy(&narrow, value, sizeof narrow);
            number = narrow != 0;
        }
        find_pool(handle)->set_attribute(attribute, number);
    });
}

// All devices can access all memory: access rights cannot be granted or removed.
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *access, std::size_t count) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(access);
        find_pool(handle);
        for (std::size_t i = 0; i < count; i++)
            device::require(access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE,
                            CUDA_ERROR_INVALID_VALUE);
    });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle, CUmemLocation *) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(flags);
        find_pool(handle);
        *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    });
}

CUresult cuMemPoolExportToShareableHandle(void *result, CUmemoryPool handle,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result);
        require_descriptor(type, flags);
        const std::shared_ptr<PoolFile> file = find_pool(handle)->file();
        device::require(file && file->is_own(), CUDA_ERROR_INVALID_VALUE);
        const int descriptor = fcntl(file->file(), F_DUPFD_CLOEXEC, 0);
        device::require(descriptor >= 0, CUDA_ERROR_OPERATING_SYSTEM);
        std::memcpy(result, &descriptor, sizeof descriptor);
    });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *result, void *handle,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        api::require_non_null(result);
        require_descriptor(type, flags);
        auto file = PoolFile::import(static_cast<int>(reinterpret_cast<std::intptr_t>(handle)));
        device::require(file->device() < system.device_count(), CUDA_ERROR_INVALID_DEVICE);
        auto pool = std::make_shared<MemoryPool>(PoolPlace::of(system.device(file->device())), 0,
                                                 std::move(file));
        device::registry<MemoryPool>().add(pool);
        *result = handle_of(pool);
    });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *result, CUdeviceptr address) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        api::require_non_null(result);
        const auto allocation = system.memory().find(address);
        device::require(allocation && allocation->address == address && allocation->file &&
                            allocation->file->is_own(),
                        CUDA_ERROR_INVALID_VALUE);
        SharedPointer shared;
        shared.file = allocation->file->id();
        shared.offset = allocation->file_offset + (allocation->address - allocation->run);
        shared.bytes = allocation->size;
        *result = {};
        std::memcpy(result->reserved, &shared, sizeof shared);
    });
}

CUresult cuMemPoolImportPointer(CUdeviceptr *result, CUmemoryPool handle,
                                CUmemPoolPtrExportData *from) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(result, from);
        const std::shared_ptr<MemoryPool> pool = find_pool(handle);
        SharedPointer shared;
        std::memcpy(&shared, from->reserved, sizeof shared);
        device::require(std::memcmp(shared.maker, SharedPointer().maker, sizeof shared.maker) ==
                                0 &&
                            pool->file() && pool->file()->id() == shared.file,
                        CUDA_ERROR_INVALID_VALUE);
        *result = pool->open(context, shared.offset, shared.bytes);
    });
}
