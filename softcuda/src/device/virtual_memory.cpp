// virtual_memory.cpp -- address ranges, memory that is mapped to them, and memory that processes
// share.
//
//     reserve      | red |            inaccessible                     | red |
//     map          | red |  mapping A  |  mapping B  |  inaccessible   | red |
//
// All devices share one page table, so they have common access rights: a page allows every access
// that any device is allowed. Each device's rights are stored for cuMemGetAccess.
#include "device/address_space.h"

#include "device/error.h"
#include "device/physical_memory.h"

#include <unistd.h>

namespace softcuda::device {
namespace {

using Access = rt::ReservedRange::Access;

std::byte *pointer(std::uint64_t address) { return reinterpret_cast<std::byte *>(address); }

bool write_all(int file, const std::byte *from, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes;) {
        const ssize_t written = pwrite(file, from + at, bytes - at, static_cast<off_t>(at));
        if (written <= 0)
            return false;
        at += static_cast<std::uint64_t>(written);
    }
    return true;
}

} // namespace

std::uint64_t AddressSpace::reserve(std::uint64_t bytes, std::uint64_t align) {
    std::unique_lock lock(mutex_);
    const std::byte *run = arena_.reserve(bytes, std::max(align, rt::page_size()));
    require(run != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    const auto address = reinterpret_cast<std::uint64_t>(run);
    reservations_.emplace(address, bytes);
    return address;
}

void AddressSpace::free_reservation(std::uint64_t address, std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    const auto reserved = reservations_.find(address);
    require(reserved != reservations_.end() && reserved->second == bytes, CUDA_ERROR_INVALID_VALUE);
    const auto mapped = map_.lower_bound(address);
    require(mapped == map_.end() || mapped->first >= address + bytes, CUDA_ERROR_INVALID_VALUE);
    arena_.give_back(pointer(address), bytes);
    reservations_.erase(reserved);
}

void AddressSpace::map(std::uint64_t address, std::uint64_t bytes,
                       const std::shared_ptr<PhysicalMemory> &memory, std::uint64_t offset) {
    require(bytes > 0 && bytes <= memory->bytes() && offset <= memory->bytes() - bytes,
            CUDA_ERROR_INVALID_VALUE);
    std::unique_lock lock(mutex_);
    auto reserved = reservations_.upper_bound(address);
    require(reserved != reservations_.begin(), CUDA_ERROR_INVALID_VALUE);
    --reserved;
    const std::uint64_t into = address - reserved->first;
    require(into <= reserved->second && bytes <= reserved->second - into, CUDA_ERROR_INVALID_VALUE);
    const auto next = map_.lower_bound(address);
    require(locate(address) == map_.end() && (next == map_.end() || next->first >= address + bytes),
            CUDA_ERROR_INVALID_VALUE);
    Allocation allocation;
    allocation.address = address;
    allocation.size = bytes;
    allocation.kind = MemoryKind::Mapped;
    allocation.device = &memory->device();
    allocation.id = next_id_++;
    allocation.backing = memory;
    const auto position = map_.emplace(address, std::move(allocation)).first;
    if (arena_.back(pointer(address), bytes, memory->file(), offset))
        return;
    map_.erase(position);
    throw Error(CUDA_ERROR_OUT_OF_MEMORY);
}

// The mappings of a range.
std::vector<AddressSpace::Map::iterator> AddressSpace::mappings(std::uint64_t address,
                                                                std::uint64_t bytes) {
    std::vector<Map::iterator> found;
    std::uint64_t at = address;
    for (auto position = map_.find(address);
         position != map_.end() && position->first == at && at < address + bytes; ++position) {
        if (position->second.kind != MemoryKind::Mapped)
            break;
        found.push_back(position);
        at += position->second.size;
    }
    require(!found.empty() && at == address + bytes, CUDA_ERROR_INVALID_VALUE);
    return found;
}

void AddressSpace::unmap(std::uint64_t address, std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    for (const Map::iterator position : mappings(address, bytes))
        remove(position);
}

void AddressSpace::set_access(std::uint64_t address, std::uint64_t bytes, std::uint64_t devices,
                              CUmemAccess_flags flags) {
    std::unique_lock lock(mutex_);
    for (const Map::iterator position : mappings(address, bytes)) {
        Allocation &mapping = position->second;
        const bool reads = (flags & CU_MEM_ACCESS_FLAGS_PROT_READ) != 0;
        const bool writes = flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        mapping.readers = reads ? mapping.readers | devices : mapping.readers & ~devices;
        mapping.writers = writes ? mapping.writers | devices : mapping.writers & ~devices;
        const Access access = mapping.writers != 0   ? Access::ReadWrite
                              : mapping.readers != 0 ? Access::Read
                                                     : Access::None;
        require(arena_.protect(pointer(mapping.address), mapping.size, access),
                CUDA_ERROR_OPERATING_SYSTEM);
    }
}

void AddressSpace::remove_pages(const Allocation &allocation) {
    if (allocation.kind == MemoryKind::Mapped)
        arena_.withdraw(pointer(allocation.address), allocation.size);
    else
        arena_.give_back(pointer(allocation.run), allocation.run_bytes);
}

Allocation AddressSpace::share(std::uint64_t address) {
    std::unique_lock lock(mutex_);
    const auto position = map_.upper_bound(address);
    const bool known = locate(address) != map_.end();
    require(known && std::prev(position)->second.kind == MemoryKind::Device,
            CUDA_ERROR_INVALID_VALUE);
    Allocation &allocation = std::prev(position)->second;
    require(allocation.run_bytes > 0, CUDA_ERROR_NOT_SUPPORTED); // a part of a slab
    if (allocation.backing)
        return allocation;
    auto memory = PhysicalMemory::uncounted(*allocation.device, allocation.run_bytes);
    std::byte *run = pointer(allocation.run);
    require(write_all(memory->file(), run, allocation.run_bytes), CUDA_ERROR_OUT_OF_MEMORY);
    require(arena_.back(run, allocation.run_bytes, memory->file(), 0) &&
                arena_.protect(run, allocation.run_bytes, Access::ReadWrite),
            CUDA_ERROR_OPERATING_SYSTEM);
    allocation.backing = std::move(memory);
    return allocation;
}

std::uint64_t AddressSpace::open_shared(const std::shared_ptr<PhysicalMemory> &memory,
                                        std::uint64_t offset, std::uint64_t size,
                                        Context &context) {
    require(size > 0 && size <= memory->bytes() && offset <= memory->bytes() - size,
            CUDA_ERROR_INVALID_VALUE);
    std::unique_lock lock(mutex_);
    std::byte *run = arena_.reserve(memory->bytes(), rt::page_size());
    require(run != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    if (!arena_.back(run, memory->bytes(), memory->file(), 0) ||
        !arena_.protect(run, memory->bytes(), Access::ReadWrite)) {
        arena_.give_back(run, memory->bytes());
        throw Error(CUDA_ERROR_OUT_OF_MEMORY);
    }
    Allocation allocation;
    allocation.run = reinterpret_cast<std::uint64_t>(run);
    allocation.run_bytes = memory->bytes();
    allocation.address = allocation.run + offset;
    allocation.size = size;
    allocation.kind = MemoryKind::Shared;
    allocation.device = &memory->device();
    allocation.context = &context;
    allocation.id = next_id_++;
    allocation.backing = memory;
    map_.emplace(allocation.address, allocation);
    return allocation.address;
}

} // namespace softcuda::device
