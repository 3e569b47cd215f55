// memory.cpp -- allocation of device, host and managed memory.
#include "api/call.h"
#include "device/checked_memory.h"
#include "device/graphs/graph_memory.h"
#include "device/memory_pool.h"
#include "device/registry.h"

#include <climits>

using namespace softcuda;
using device::Allocation;
using device::Context;
using device::MemoryKind;

namespace {

device::AddressSpace &memory() { return device::System::get().memory(); }

std::uint64_t allocate(Context &context, std::size_t bytes, MemoryKind kind, unsigned flags = 0) {
    return device::allocate_or_wait({.size = bytes,
                                     .kind = kind,
                                     .device = &context.device(),
                                     .context = &context,
                                     .flags = flags});
}

/// The allocation that contains `address`. Throws Error(invalid value).
Allocation find(std::uint64_t address) {
    const std::optional<Allocation> allocation = memory().find(address);
    device::require(allocation.has_value(), CUDA_ERROR_INVALID_VALUE);
    return *allocation;
}

/// Waits for kernels that may use memory that is about to be freed: those of its context, and of
/// the current context.
void wait_for_users(const Allocation &allocation, Context &current) {
    current.wait_for_all();
    if (allocation.context == &current)
        return;
    if (const auto owner = device::registry<Context>().find(allocation.context))
        owner->wait_for_all();
}

} // namespace

CUresult cuMemGetInfo(std::size_t *free, std::size_t *total) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        if (free)
            *free = context.device().free_memory();
        if (total)
            *total = context.device().total_memory();
    });
}

CUresult cuMemAlloc(CUdeviceptr *result, std::size_t bytes) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        api::require_non_null(result);
        *result = allocate(context, bytes, MemoryKind::Device);
    });
}

CUresult cuMemAllocPitch(CUdeviceptr *result, std::size_t *pitch, std::size_t width,
                         std::size_t height, unsigned int element_bytes) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        api::require_non_null(result, pitch);
        device::require(element_bytes == 4 || element_bytes == 8 || element_bytes == 16,
                        CUDA_ERROR_INVALID_VALUE);
        device::require(width > 0 && height > 0 && width <= INT_MAX, CUDA_ERROR_INVALID_VALUE);
        const std::size_t rounded = rt::round_up(width, 512);
        device::require(height <= SIZE_MAX / rounded, CUDA_ERROR_OUT_OF_MEMORY);
        *result = allocate(context, rounded * height, MemoryKind::Device);
        *pitch = rounded;
    });
}

CUresult cuMemFree(CUdeviceptr address) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        if (address == 0)
            return; // like free() and CUDA
        const auto known = memory().find(address);
        if (!known || known->address != address) {
            device::checked_memory::refused_free(address);
            throw device::Error(CUDA_ERROR_INVALID_VALUE);
        }
        const Allocation &allocation = *known;
        wait_for_users(allocation, context);
        if (allocation.kind == MemoryKind::Graph) {
            const auto of_graph = device::GraphMemory::find(address);
            device::require(of_graph && of_graph->set_allocated(false), CUDA_ERROR_INVALID_VALUE);
            device::GraphMemory::end_use(address);
            return;
        }
        if (allocation.kind == MemoryKind::Pool) // of cuMemAllocAsync
            return device::MemoryPool::free_now(allocation);
        // Not, for example, a module's variables.
        const bool managed = allocation.kind == MemoryKind::Managed;
        memory().free(address, managed ? MemoryKind::Managed : MemoryKind::Device);
    });
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, std::size_t *size, CUdeviceptr address) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        const std::optional<Allocation> allocation = memory().find(address);
        device::require(allocation.has_value(), CUDA_ERROR_NOT_FOUND);
        // Memory of another device is unknown here (as on an H200).
        const bool of_device =
            allocation->kind == MemoryKind::Device || allocation->kind == MemoryKind::Pool;
        device::require(!of_device || allocation->device == &context.device(),
                        CUDA_ERROR_NOT_FOUND);
        if (base)
            *base = allocation->address;
        if (size)
            *size = allocation->size;
    });
}

CUresult cuMemAllocManaged(CUdeviceptr *result, std::size_t bytes, unsigned int flags) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        api::require_non_null(result);
        device::require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST,
                        CUDA_ERROR_INVALID_VALUE);
        *result = allocate(context, bytes, MemoryKind::Managed, flags);
    });
}

CUresult cuMemHostAlloc(void **result, std::size_t bytes, unsigned int flags) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        constexpr unsigned known =
            CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
        api::require_non_null(result);
        device::require((flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE);
        *result = reinterpret_cast<void *>(allocate(context, bytes, MemoryKind::Host, flags));
    });
}

CUresult cuMemAllocHost(void **result, std::size_t bytes) {
    return cuMemHostAlloc(result, bytes, 0);
}

CUresult cuMemFreeHost(void *pointer) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        if (!pointer)
            return;
        const auto address = reinterpret_cast<std::uint64_t>(pointer);
        wait_for_users(find(address), context);
        memory().free(address, MemoryKind::Host);
    });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *result, void *pointer, unsigned int flags) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        device::require(flags == 0, CUDA_ERROR_INVALID_VALUE);
        const auto address = reinterpret_cast<std::uint64_t>(pointer);
        const MemoryKind kind = find(address).kind;
        device::require(kind == MemoryKind::Host || kind == MemoryKind::Registered,
                        CUDA_ERROR_INVALID_VALUE);
        *result = address;
    });
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *pointer) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(flags);
        const Allocation allocation = find(reinterpret_cast<std::uint64_t>(pointer));
        device::require(allocation.kind == MemoryKind::Host, CUDA_ERROR_INVALID_VALUE);
        *flags =
            allocation.flags | CU_MEMHOSTALLOC_DEVICEMAP; // unified addressing maps all host memory
    });
}

CUresult cuMemHostRegister(void *pointer, std::size_t bytes, unsigned int flags) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                   CU_MEMHOSTREGISTER_READ_ONLY;
        device::require((flags & CU_MEMHOSTREGISTER_IOMEMORY) == 0, CUDA_ERROR_NOT_SUPPORTED);
        device::require((flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE);
        memory().register_host({.size = bytes,
                                .kind = MemoryKind::Registered,
                                .device = &context.device(),
                                .context = &context,
                                .flags = flags},
                               reinterpret_cast<std::uint64_t>(pointer));
    });
}

CUresult cuMemHostUnregister(void *pointer) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        context.wait_for_all();
        memory().unregister_host(reinterpret_cast<std::uint64_t>(pointer));
    });
}
