// pointer.cpp -- queries about pointers.
#include "api/call.h"
#include "device/physical_memory.h"

#include <cstring>

using namespace softcuda;
using device::Allocation;
using device::MemoryKind;

namespace {

CUmemorytype memory_type(const Allocation &allocation) {
    return allocation.is_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

template <class T> void put(void *to, T value) { std::memcpy(to, &value, sizeof value); }

/// Writes the value of one attribute. False if the number is not an attribute, or is unknown here.
bool write_attribute(void *to, CUpointer_attribute attribute, std::uint64_t pointer,
                     const Allocation &allocation) {
    const bool managed = allocation.is_managed();
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        put(to, reinterpret_cast<CUcontext>(allocation.context));
        return true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        put(to, memory_type(allocation));
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        put(to, pointer);
        return true;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        put(to, 0);
        return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        put(to, static_cast<unsigned long long>(allocation.id));
        return true;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        put(to, managed ? 1 : 0);
        return true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        put(to, allocation.device->ordinal());
        return true;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        put(to, allocation.kind == MemoryKind::Device ? 1 : 0);
        return true;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        put(to, 0);
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        put(to, allocation.address);
        return true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        put(to, std::size_t{allocation.size});
        return true;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        put(to, 1);
        return true;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        put(to, cuuint64_t{allocation.kind == MemoryKind::Mapped
                               ? static_cast<unsigned>(allocation.backing->handle_types())
                           : allocation.file
                               ? static_cast<unsigned>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
                               : 0U});
        return true;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        put(to, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        return true;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        put(to, allocation.pool);
        return true;
    default:
        return false;
    }
}

/// The value that cuPointerGetAttributes returns for a pointer that the driver does not know.
void write_unknown(void *to, CUpointer_attribute attribute) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return put(to, 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return put(to, -2);
    default:
        return put(to, std::uint64_t{0});
    }
}

} // namespace

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        device::refuse_in_host_function();
        api::require_non_null(data);
        const std::optional<Allocation> allocation = system.memory().find(pointer);
        device::require(allocation.has_value(), CUDA_ERROR_INVALID_VALUE);
        device::require(write_attribute(data, attribute, pointer, *allocation),
                        CUDA_ERROR_INVALID_VALUE);
    });
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr pointer) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        api::require_non_null(attributes, data);
        const std::optional<Allocation> allocation = system.memory().find(pointer);
        for (unsigned i = 0; i < count; i++) {
            api::require_non_null(data[i]);
            if (!allocation)
                write_unknown(data[i], attributes[i]);
            else
                device::require(write_attribute(data[i], attributes[i], pointer, *allocation),
                                CUDA_ERROR_INVALID_VALUE);
        }
    });
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr pointer) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        api::require_non_null(value);
        // Here, copies are complete when they return, so the attribute has no effect.
        device::require(attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                            system.memory().find(pointer).has_value(),
                        CUDA_ERROR_INVALID_VALUE);
    });
}
