// address_space.cpp -- allocations, and queries about addresses.
#include "device/address_space.h"

#include "device/checked_memory.h"

#include "device/device.h"
#include "device/error.h"
#include "device/pool_file.h"
#include "device/range_advice.h"
#include "support/hexadecimal.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <sys/mman.h>

namespace softcuda::device {
namespace {

constexpr std::uint64_t kAlignment = 256;

// Each allocation with separate pages costs the process up to two mappings, of which Linux allows
// 65,530. Above this number, small allocations share slabs and have no red zones.
constexpr std::uint64_t kMaxPageRuns = 16384;
constexpr std::uint64_t kSlabBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxSlabPiece = kSlabBytes / 16;
constexpr std::size_t kRememberedFrees = 64;
/// An address outside the arena and further than this from all allocations is not related to any of
/// them.
constexpr std::uint64_t kNear = std::uint64_t{1} << 20;

std::uint64_t piece_bytes(std::uint64_t size) {
    std::uint64_t bytes = kAlignment;
    while (bytes < size)
        bytes *= 2;
    return bytes;
}

std::string bytes_text(std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

/// Whether anything is mapped at the address, even if only a reservation.
bool is_mapped(std::uint64_t address) {
    unsigned char state = 0;
    const std::uint64_t page = address & ~(rt::page_size() - 1);
    return mincore(reinterpret_cast<void *>(page), 1, &state) == 0;
}

/// See ask_for_block_sizes().
std::atomic<std::size_t (*)(CUdeviceptr)> block_size_question{nullptr};

std::string allocation_text(const Allocation &allocation) {
    return "the " + std::to_string(allocation.size) + "-byte allocation at " +
           hexadecimal(allocation.address);
}

} // namespace

bool Allocation::counts() const noexcept { return !is_host() && !(file && !file->is_own()); }

AddressSpace::AddressSpace(std::uint64_t arena_bytes, std::uint64_t slack)
    : arena_(arena_bytes), slack_(slack) {}

void AddressSpace::ask_for_block_sizes(std::size_t (*bytes_in_use)(CUdeviceptr block)) noexcept {
    block_size_question = bytes_in_use;
}

std::uint64_t AddressSpace::requested_bytes(const Allocation &allocation) {
    const auto ask = block_size_question.load();
    const std::uint64_t used = ask ? ask(allocation.address) : 0;
    return used > 0 && used < allocation.size ? used : allocation.size;
}

std::uint64_t AddressSpace::allocate(const Request &request) {
    require(request.size > 0, CUDA_ERROR_INVALID_VALUE);
    require(request.size <= arena_.size(), CUDA_ERROR_OUT_OF_MEMORY);
    Allocation allocation;
    allocation.size = request.size;
    allocation.kind = request.kind;
    allocation.device = request.device;
    allocation.context = request.context;
    allocation.flags = request.flags;
    allocation.pool = request.pool;
    allocation.client_memory = request.client_memory;
    allocation.file = request.file;

    const bool counts = allocation.counts();
    if (counts)
        require(request.device->take_memory(request.size), CUDA_ERROR_OUT_OF_MEMORY);
    std::unique_lock lock(mutex_);
    try {
        if (allocation.file)
            place_in_file(allocation, request.offset_in_other);
        else
            place(allocation);
        allocation.id = next_id_++;
        checked_memory::allocated(allocation);
        map_.emplace(allocation.address, allocation);
    } catch (...) {
        if (counts)
            request.device->return_memory(request.size);
        throw;
    }
    return allocation.address;
}

void AddressSpace::place(Allocation &allocation) {
    // Kernels allocate many small blocks, and this must be fast.
    const bool share = page_runs_ >= kMaxPageRuns || allocation.kind == MemoryKind::Heap;
    const std::uint64_t bytes = allocation.size + slack_;
    if (share && bytes <= kMaxSlabPiece)
        return place_in_slab(allocation);
    std::byte *run = arena_.take(bytes);
    require(run != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    page_runs_++;
    allocation.run = reinterpret_cast<std::uint64_t>(run);
    allocation.run_bytes = Arena::run_bytes(bytes);
    // As close to the end of the pages as the alignment allows, so that an access past the end hits
    // the red zone.
    allocation.address = allocation.run + allocation.run_bytes - rt::round_up(bytes, kAlignment);
}

void AddressSpace::place_in_slab(Allocation &allocation) {
    const std::uint64_t bytes = piece_bytes(allocation.size + slack_);
    std::vector<std::uint64_t> &pieces = free_pieces_[bytes];
    if (pieces.empty()) {
        std::byte *slab = arena_.take(kSlabBytes);
        require(slab != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        for (std::uint64_t offset = kSlabBytes; offset >= bytes; offset -= bytes)
            pieces.push_back(reinterpret_cast<std::uint64_t>(slab) + offset - bytes);
    }
    allocation.address = pieces.back();
    pieces.pop_back();
    std::memset(reinterpret_cast<void *>(allocation.address), 0, allocation.size + slack_);
}

void AddressSpace::place_in_file(Allocation &allocation, std::uint64_t offset_in_other) {
    PoolFile &file = *allocation.file;
    const std::uint64_t before = offset_in_other & (rt::page_size() - 1);
    const std::uint64_t slack = file.is_own() ? slack_ : 0; // another process's file has an end
    allocation.run_bytes = Arena::run_bytes(before + allocation.size + slack);
    std::byte *run = arena_.reserve(allocation.run_bytes, rt::page_size());
    require(run != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    allocation.run = reinterpret_cast<std::uint64_t>(run);
    allocation.file_offset =
        file.is_own() ? file.take(allocation.run_bytes) : offset_in_other - before;
    if (!arena_.back(run, allocation.run_bytes, file.file(), allocation.file_offset) ||
        !arena_.protect(run, allocation.run_bytes, rt::ReservedRange::Access::ReadWrite)) {
        arena_.give_back(run, allocation.run_bytes);
        if (file.is_own())
            file.give_back(allocation.file_offset, allocation.run_bytes);
        throw Error(CUDA_ERROR_OUT_OF_MEMORY);
    }
    page_runs_++;
    allocation.address = file.is_own() ? allocation.run + allocation.run_bytes -
                                             rt::round_up(allocation.size + slack, kAlignment)
                                       : allocation.run + before;
}

void AddressSpace::free(std::uint64_t address, MemoryKind kind) {
    std::unique_lock lock(mutex_);
    const auto position = map_.find(address);
    require(position != map_.end() && position->second.kind == kind, CUDA_ERROR_INVALID_VALUE);
    remove(position);
}

std::vector<Allocation> AddressSpace::allocations(const Context *context) const {
    std::vector<Allocation> found;
    std::shared_lock lock(mutex_);
    for (const auto &[address, allocation] : map_)
        if (!context || allocation.context == context)
            found.push_back(allocation);
    return found;
}

void AddressSpace::free_all(const Context *context) {
    std::unique_lock lock(mutex_);
    for (auto position = map_.begin(); position != map_.end();) {
        const auto next = std::next(position);
        if (position->second.context == context)
            remove(position);
        position = next;
    }
}

void AddressSpace::remove(Map::iterator position) {
    const Allocation allocation = position->second;
    map_.erase(position);
    remember_freed(allocation);
    checked_memory::freed(allocation);
    if (allocation.kind == MemoryKind::Registered)
        return;
    if (allocation.kind == MemoryKind::Mapped || allocation.kind == MemoryKind::Shared)
        return remove_pages(allocation);
    if (allocation.run_bytes > 0) {
        page_runs_--;
        arena_.give_back(reinterpret_cast<std::byte *>(allocation.run), allocation.run_bytes);
        if (allocation.file && allocation.file->is_own())
            allocation.file->give_back(allocation.file_offset, allocation.run_bytes);
    } else {
        free_pieces_[piece_bytes(allocation.size + slack_)].push_back(allocation.address);
    }
    if (allocation.counts())
        allocation.device->return_memory(allocation.size);
}

void AddressSpace::register_host(const Request &request, std::uint64_t address) {
    require(address != 0 && request.size > 0 && address + request.size > address,
            CUDA_ERROR_INVALID_VALUE);
    std::unique_lock lock(mutex_);
    const auto next = map_.lower_bound(address);
    const bool overlaps_next = next != map_.end() && next->first < address + request.size;
    const bool overlaps_previous = locate(address) != map_.end();
    require(!overlaps_next && !overlaps_previous, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    Allocation allocation;
    allocation.address = address;
    allocation.size = request.size;
    allocation.kind = MemoryKind::Registered;
    allocation.device = request.device;
    allocation.context = request.context;
    allocation.flags = request.flags;
    allocation.id = next_id_++;
    map_.emplace(address, allocation);
}

void AddressSpace::unregister_host(std::uint64_t address) {
    std::unique_lock lock(mutex_);
    const auto position = map_.find(address);
    require(position != map_.end() && position->second.kind == MemoryKind::Registered,
            CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    remove(position);
}

std::shared_ptr<RangeAdvice> AddressSpace::advice(std::uint64_t address, std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    const auto located = locate(address);
    require(located != map_.end(), CUDA_ERROR_INVALID_VALUE);
    Allocation &allocation = map_.at(located->first);
    require((allocation.is_managed() || allocation.kind == MemoryKind::Variables ||
             allocation.kind == MemoryKind::Constants) &&
                bytes > 0 && bytes <= allocation.address + allocation.size - address,
            CUDA_ERROR_INVALID_VALUE);
    if (!allocation.advice)
        allocation.advice = std::make_shared<RangeAdvice>();
    return allocation.advice;
}

AddressSpace::Map::const_iterator AddressSpace::locate(std::uint64_t address) const {
    auto position = map_.upper_bound(address);
    if (position == map_.begin())
        return map_.end();
    --position;
    return address - position->first < position->second.size ? position : map_.end();
}

std::optional<Allocation> AddressSpace::find(std::uint64_t address) const {
    std::shared_lock lock(mutex_);
    const auto position = locate(address);
    if (position == map_.end())
        return std::nullopt;
    return position->second;
}

bool AddressSpace::contains(std::uint64_t address, std::uint64_t bytes) const {
    std::shared_lock lock(mutex_);
    auto position = locate(address);
    if (position == map_.end())
        return false;
    std::uint64_t end = position->first + position->second.size;
    while (bytes > end - address && position->second.kind == MemoryKind::Mapped) {
        if (++position == map_.end() || position->first != end ||
            position->second.kind != MemoryKind::Mapped)
            return false;
        end += position->second.size;
    }
    return bytes <= end - address;
}

void AddressSpace::remember_freed(const Allocation &allocation) {
    Allocation freed = allocation;
    freed.backing.reset(); // releases the memory; the description stays
    freed.advice.reset();
    freed.file.reset();
    if (freed_.size() < kRememberedFrees)
        freed_.push_back(std::move(freed));
    else
        freed_[freed_next_++ % kRememberedFrees] = std::move(freed);
}

std::optional<AddressSpace::Near> AddressSpace::near(std::uint64_t address) const {
    const auto inside = [&](const Allocation &allocation, Relation relation) {
        Near found{allocation, relation, address - allocation.address};
        found.allocation.size = requested_bytes(allocation);
        if (relation == Relation::Inside && found.distance >= found.allocation.size) {
            found.relation = Relation::After;
            found.distance -= found.allocation.size;
        }
        return found;
    };
    if (address < rt::page_size())
        return std::nullopt;
    if (const auto position = locate(address); position != map_.end())
        return inside(position->second, Relation::Inside);
    for (const Allocation &old : freed_)
        if (address - old.address < old.size)
            return inside(old, Relation::Freed);
    const auto next = map_.upper_bound(address);
    const Allocation *following = next != map_.end() ? &next->second : nullptr;
    const Allocation *previous = next != map_.begin() ? &std::prev(next)->second : nullptr;
    const std::uint64_t after =
        previous ? address - (previous->address + previous->size) : UINT64_MAX;
    const std::uint64_t before = following ? following->address - address : UINT64_MAX;
    if ((!previous && !following) || (!arena_.contains(address) && std::min(after, before) > kNear))
        return std::nullopt;
    if (!following || (previous && after <= before))
        return inside(*previous, Relation::Inside);
    Near found{*following, Relation::Before, before};
    found.allocation.size = requested_bytes(*following);
    return found;
}

std::optional<Allocation> AddressSpace::nearest(std::uint64_t address) const {
    std::shared_lock lock(mutex_);
    const std::optional<Near> found = near(address);
    return found ? std::optional(found->allocation) : std::nullopt;
}

std::optional<std::uint64_t> AddressSpace::bytes_past_end(std::uint64_t address) const {
    std::shared_lock lock(mutex_);
    const std::optional<Near> found = near(address);
    return found && found->relation == Relation::After ? std::optional(found->distance)
                                                       : std::nullopt;
}

std::string AddressSpace::describe(std::uint64_t address) const {
    std::shared_lock lock(mutex_);
    if (address < rt::page_size())
        return address == 0 ? "a null pointer" : bytes_text(address) + " after a null pointer";
    const std::optional<Near> found = near(address);
    if (!found && arena_.contains(address))
        return "there are no allocations";
    if (!found)
        return is_mapped(address) ? "memory of the program that was not registered with the driver"
                                  : "where there is no memory";
    const std::string bytes = bytes_text(found->distance);
    const std::string allocation = allocation_text(found->allocation);
    switch (found->relation) {
    case Relation::Inside:
        return bytes + " into " + allocation;
    case Relation::Freed:
        return bytes + " into " + allocation +
               (found->allocation.kind == MemoryKind::Registered ? ", which was unregistered"
                                                                 : ", which was freed");
    case Relation::After:
        return bytes + " after " + allocation;
    case Relation::Before:
        break;
    }
    return bytes + " before " + allocation;
}

} // namespace softcuda::device
