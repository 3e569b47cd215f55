// virtual_memory.cpp -- address ranges, and physical memory that is mapped to them.
#include <pycuda/virtual_memory.h>

#include "context/cleanup.h"

#include <pycuda/driver.h>

#include <cstdint>
#include <string>

namespace pycuda {
namespace {

CUmemAllocationProp properties(const Device &device,
                               PhysicalMemory::Sharing sharing = PhysicalMemory::Sharing::None) {
    CUmemAllocationProp wanted{};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, device.get()};
    if (sharing == PhysicalMemory::Sharing::FileDescriptor)
        wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return wanted;
}

std::string bytes_text(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

[[noreturn]] void throw_nothing_mapped(const char *function, std::size_t offset) {
    throw Error(function, CUDA_ERROR_INVALID_VALUE,
                "nothing was mapped at offset " + std::to_string(offset));
}

} // namespace

std::size_t granularity(const Device &device, Granularity kind) {
    const CUmemAllocationProp wanted = properties(device);
    return driver().cuMemGetAllocationGranularity.value(
        &wanted, kind == Granularity::Minimum ? CU_MEM_ALLOC_GRANULARITY_MINIMUM
                                              : CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
}

/// One reference to the driver's allocation. Mappings hold their own references.
struct PhysicalMemory::State {
    CUmemGenericAllocationHandle handle = 0;
    std::size_t bytes = 0;

    ~State() {
        if (const Driver *loaded = driver_for_cleanup())
            detail::report_cleanup("cuMemRelease", loaded->cuMemRelease.status(handle));
    }
};

PhysicalMemory::PhysicalMemory(std::size_t bytes, const Device &device, Sharing sharing) {
    const CUmemAllocationProp wanted = properties(device, sharing);
    CUmemGenericAllocationHandle handle = 0;
    check(driver().cuMemCreate.status(&handle, bytes, &wanted, 0), "cuMemCreate", [&] {
        return bytes_text(bytes) + " wanted, in multiples of " + bytes_text(granularity(device));
    });
    state_ = std::make_shared<State>(handle, bytes);
}

PhysicalMemory PhysicalMemory::import_descriptor(int descriptor, std::size_t bytes) {
    const CUmemGenericAllocationHandle handle = driver().cuMemImportFromShareableHandle.value(
        reinterpret_cast<void *>(static_cast<std::intptr_t>(descriptor)),
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    return PhysicalMemory(std::make_shared<State>(handle, bytes));
}

CUmemGenericAllocationHandle PhysicalMemory::get() const {
    if (closed())
        throw Error("physical_memory", CUDA_ERROR_INVALID_HANDLE, "the memory was closed before");
    return state_->handle;
}

std::size_t PhysicalMemory::size() const noexcept { return closed() ? 0 : state_->bytes; }

Device PhysicalMemory::device() const {
    const CUmemAllocationProp found = driver().cuMemGetAllocationPropertiesFromHandle.value(get());
    return Device(found.location.id);
}

int PhysicalMemory::export_descriptor() const {
    int descriptor = -1;
    driver().cuMemExportToShareableHandle(&descriptor, get(),
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    return descriptor;
}

VirtualMemory::VirtualMemory(std::size_t bytes, std::size_t alignment, CUdeviceptr wanted)
    : bytes_(bytes) {
    check(driver().cuMemAddressReserve.status(&address_, bytes, alignment, wanted, 0),
          "cuMemAddressReserve", [&] { return "requested " + bytes_text(bytes); });
}

VirtualMemory::~VirtualMemory() { close(); }

CUdeviceptr VirtualMemory::get() const {
    if (address_ == 0)
        throw Error("virtual_memory::get", CUDA_ERROR_INVALID_HANDLE,
                    "the range of " + bytes_text(bytes_) + " was closed");
    return address_;
}

void VirtualMemory::map(const PhysicalMemory &memory, std::size_t offset) {
    if (offset > bytes_ || memory.size() > bytes_ - offset)
        throw Error("cuMemMap", CUDA_ERROR_INVALID_VALUE,
                    bytes_text(memory.size()) + " at offset " + std::to_string(offset) +
                        " do not fit into a range of " + bytes_text(bytes_));
    driver().cuMemMap(get() + offset, memory.size(), 0, memory.get(), 0);
    mapped_.emplace(offset, memory);
}

void VirtualMemory::unmap(std::size_t offset) {
    const auto found = mapped_.find(offset);
    if (found == mapped_.end())
        throw_nothing_mapped("cuMemUnmap", offset);
    driver().cuMemUnmap(get() + offset, found->second.size());
    mapped_.erase(found);
}

void VirtualMemory::set_access(const Device &device, CUmemAccess_flags access,
                               std::optional<std::size_t> offset) {
    if (offset && !mapped_.contains(*offset))
        throw_nothing_mapped("cuMemSetAccess", *offset);
    const CUmemAccessDesc wanted{{CU_MEM_LOCATION_TYPE_DEVICE, device.get()}, access};
    for (const auto &[at, memory] : mapped_)
        if (!offset || at == *offset)
            driver().cuMemSetAccess(get() + at, memory.size(), &wanted, 1);
}

CUmemAccess_flags VirtualMemory::access(const Device &device, std::size_t offset) const {
    const CUmemLocation place{CU_MEM_LOCATION_TYPE_DEVICE, device.get()};
    unsigned long long flags = 0;
    driver().cuMemGetAccess(&flags, &place, get() + offset);
    return static_cast<CUmemAccess_flags>(flags);
}

void VirtualMemory::close() noexcept {
    const Driver *loaded = driver_for_cleanup();
    if (loaded && address_) {
        for (const auto &[offset, memory] : mapped_)
            detail::report_cleanup("cuMemUnmap",
                                   loaded->cuMemUnmap.status(address_ + offset, memory.size()));
        detail::report_cleanup("cuMemAddressFree",
                               loaded->cuMemAddressFree.status(address_, bytes_));
    }
    mapped_.clear();
    address_ = 0;
}

} // namespace pycuda
