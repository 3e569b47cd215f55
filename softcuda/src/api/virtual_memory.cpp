// virtual_memory.cpp -- address ranges and physical memory: cuMemCreate, cuMemMap, ...
#include "api/call.h"
#include "device/physical_memory.h"

#include <bit>
#include <fcntl.h>
#include <span>
#include <unistd.h>

using namespace softcuda;
using device::Allocation;
using device::MemoryKind;
using device::PhysicalMemory;

namespace {

constexpr std::uint64_t kGranularity = std::uint64_t{2} << 20; // as on a GPU
constexpr int kHostBit = 63; ///< for the sets of devices in device::Allocation

device::AddressSpace &memory() { return device::System::get().memory(); }

void require_whole(std::uint64_t bytes) {
    device::require(bytes > 0 && bytes % kGranularity == 0, CUDA_ERROR_INVALID_VALUE);
}

/// The device for memory with these properties. Throws Error if it cannot be created.
device::Device &checked_device(const CUmemAllocationProp &wanted) {
    device::require(wanted.type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    device::require(wanted.location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
    device::require(wanted.requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE ||
                        wanted.requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                    CUDA_ERROR_NOT_SUPPORTED);
    return device::System::get().device(wanted.location.id);
}

std::uint64_t device_bit(const CUmemLocation &location) {
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        device::require(location.type != CU_MEM_LOCATION_TYPE_INVALID, CUDA_ERROR_INVALID_VALUE);
        return std::uint64_t{1} << kHostBit;
    }
    return std::uint64_t{1} << (device::System::get().device(location.id).ordinal() % kHostBit);
}

Allocation find_mapping(CUdeviceptr address) {
    const std::optional<Allocation> allocation = memory().find(address);
    device::require(allocation && allocation->kind == MemoryKind::Mapped, CUDA_ERROR_INVALID_VALUE);
    return *allocation;
}

} // namespace

CUresult cuMemGetAllocationGranularity(std::size_t *granularity, const CUmemAllocationProp *wanted,
                                       CUmemAllocationGranularity_flags option) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(granularity, wanted);
        device::require(option == CU_MEM_ALLOC_GRANULARITY_MINIMUM ||
                            option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
                        CUDA_ERROR_INVALID_VALUE);
        static_cast<void>(checked_device(*wanted));
        *granularity = kGranularity;
    });
}

CUresult cuMemAddressReserve(CUdeviceptr *result, std::size_t bytes, std::size_t align, CUdeviceptr,
                             unsigned long long flags) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        device::refuse_in_host_function();
        api::require_non_null(result);
        require_whole(bytes);
        device::require(flags == 0 && (align == 0 || std::has_single_bit(align)),
                        CUDA_ERROR_INVALID_VALUE);
        // The requested address is only a hint; memory for kernels must be in the arena.
        *result = system.memory().reserve(bytes, std::max<std::uint64_t>(align, kGranularity));
    });
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
    return api::with_system<api::InCapture::Permitted>(
        [&](device::System &system) { system.memory().free_reservation(address, bytes); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *result, std::size_t bytes,
                     const CUmemAllocationProp *wanted, unsigned long long flags) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result, wanted);
        device::require(flags == 0, CUDA_ERROR_INVALID_VALUE);
        require_whole(bytes);
        *result = PhysicalMemory::retain(std::make_shared<PhysicalMemory>(
            checked_device(*wanted), bytes, wanted->requestedHandleTypes));
    });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    return api::with_system<api::InCapture::Permitted>(
        [&](device::System &) { PhysicalMemory::release(handle); });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *result, void *address) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result);
        *result =
            PhysicalMemory::retain(find_mapping(reinterpret_cast<CUdeviceptr>(address)).backing);
    });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                CUmemGenericAllocationHandle handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(properties);
        const auto found = PhysicalMemory::find(handle);
        *properties = {};
        properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties->requestedHandleTypes = found->handle_types();
        properties->location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                .id = found->device().ordinal()};
    });
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        device::require(flags == 0 && address % kGranularity == 0 && offset % kGranularity == 0,
                        CUDA_ERROR_INVALID_VALUE);
        require_whole(bytes);
        system.memory().map(address, bytes, PhysicalMemory::find(handle), offset);
    });
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        if (device::Context *current = device::current_context::get())
            current->wait_for_all(); // kernels may use it
        system.memory().unmap(address, bytes);
    });
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc *wanted,
                        std::size_t count) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        api::require_non_null(wanted);
        for (const CUmemAccessDesc &each : std::span(wanted, count)) {
            device::require(each.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                                each.flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                                each.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                            CUDA_ERROR_INVALID_VALUE);
            system.memory().set_access(address, bytes, device_bit(each.location), each.flags);
        }
    });
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                        CUdeviceptr address) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(flags, location);
        const std::uint64_t bit = device_bit(*location);
        const Allocation mapping = find_mapping(address);
        *flags = mapping.writers & bit   ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                 : mapping.readers & bit ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                         : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    });
}

CUresult cuMemExportToShareableHandle(void *result, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result);
        const auto found = PhysicalMemory::find(handle);
        device::require(flags == 0 && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
                            found->handle_types() == type,
                        CUDA_ERROR_INVALID_VALUE);
        const int file = fcntl(found->file(), F_DUPFD_CLOEXEC, 0);
        device::require(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
        *static_cast<int *>(result) = file;
    });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *result, void *handle,
                                        CUmemAllocationHandleType type) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        api::require_non_null(result);
        device::require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
        const device::Context *current = device::current_context::get();
        *result = PhysicalMemory::retain(
            PhysicalMemory::import(current ? current->device() : system.device(0),
                                   static_cast<int>(reinterpret_cast<std::intptr_t>(handle))));
    });
}
