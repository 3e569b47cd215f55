// address_space.h -- all memory that kernels may access, and its owners.
//
// A device pointer is a host address. Everything that the driver allocates (device, pinned host and
// managed memory, module variables) lies in one arena, so that generated code tells "may be device
// memory" from "cannot be" with one comparison; an access between two allocations faults. Host
// memory that the client registered lies elsewhere and is looked up.
#pragma once

#include "device/arena.h"

#include <cstdint>
#include <cuda.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace softcuda::device {

class Context;
class Device;
class MemoryPool;
class PhysicalMemory;
class PoolFile;
class RangeAdvice;

enum class MemoryKind {
    Device,     ///< cuMemAlloc and its like
    Host,       ///< page-locked memory from cuMemHostAlloc
    Managed,    ///< cuMemAllocManaged
    Registered, ///< the client's own memory, after cuMemHostRegister
    Variables,  ///< .global and .const variables of a module
    Pool,       ///< cuMemAllocAsync
    Heap,       ///< what malloc() in kernels hands out
    Array,      ///< texels of a CUDA array
    Mapped,     ///< physical memory at an address of the client's choice: cuMemMap
    Graph,      ///< of a graph's node
    Shared,     ///< another process's memory: cuIpcOpenMemHandle
};

/// What memory of a pool or of a graph's node is for its client. All of it is the same memory.
enum class Residence : std::uint8_t { Device, Host, Managed };

/// Some bytes with one owner. `address` and `size` are what the client asked for.
struct Allocation {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    MemoryKind kind = MemoryKind::Device;
    Device *device = nullptr;
    Context *context = nullptr; ///< never followed here: it may be gone in a copy of this struct
    const MemoryPool *pool = nullptr;        ///< likewise; for MemoryKind::Pool
    Residence residence = Residence::Device; ///< for MemoryKind::Pool and Graph
    unsigned flags = 0;                      ///< as given to the allocating call
    std::uint64_t id = 0;        ///< unique in the process: CU_POINTER_ATTRIBUTE_BUFFER_ID
    std::uint64_t run = 0;       ///< the pages behind it
    std::uint64_t run_bytes = 0; ///< 0: a piece of a slab, or not in the arena
    std::shared_ptr<PhysicalMemory> backing; ///< where pages can be shared
    std::shared_ptr<RangeAdvice> advice;     ///< null: none was given
    std::shared_ptr<PoolFile> file;          ///< whose pages these are; null: nobody else has them
    std::uint64_t file_offset = 0;           ///< of the first page
    std::uint32_t knows_writes = 0; ///< since when all writes are seen (checked_memory.h); 0: never
    std::uint64_t readers = 0, writers = 0; ///< of what is mapped: a bit for each device

    /// The driver's own or the client's page-locked host memory.
    [[nodiscard]] bool is_host() const noexcept {
        return kind == MemoryKind::Host || kind == MemoryKind::Registered ||
               residence == Residence::Host;
    }
    /// Whether `size` counts as used memory of the device, here and not in another process.
    [[nodiscard]] bool counts() const noexcept;
    [[nodiscard]] bool is_managed() const noexcept {
        return kind == MemoryKind::Managed || residence == Residence::Managed;
    }
};

/// The allocator and the map of all allocations. Any thread may call any function.
class AddressSpace {
  public:
    /// `arena_bytes` of addresses are reserved, or fewer where the process may not have as many.
    explicit AddressSpace(std::uint64_t arena_bytes);

    /// What a new allocation is made for.
    struct Request {
        std::uint64_t size = 0;
        MemoryKind kind = MemoryKind::Device;
        Device *device = nullptr;
        Context *context = nullptr;
        unsigned flags = 0;
        const MemoryPool *pool = nullptr;
        Residence residence = Residence::Device;
        std::shared_ptr<PoolFile> file = nullptr; ///< null: pages of nobody else
        std::uint64_t offset_in_other = 0; ///< of the memory in a file that another process made
    };

    /// Zeroed memory at a multiple of 256. Its end is as close to an inaccessible page as the
    /// alignment allows. Throws Error: invalid value for no bytes, out of memory.
    std::uint64_t allocate(const Request &request);

    /// Frees the allocation that starts at `address`. Throws Error(invalid value) when there is
    /// none, or when it is of another kind.
    void free(std::uint64_t address, MemoryKind kind);

    /// Frees all that `context` owns.
    void free_all(const Context *context);

    /// Makes the client's own memory reachable for kernels. Throws Error: already registered.
    void register_host(const Request &request, std::uint64_t address);
    void unregister_host(std::uint64_t address);

    // Addresses without memory, and memory for them: see virtual_memory.cpp. These throw
    // Error(invalid value) for ranges that are not as described.

    /// Addresses that nothing else gets.
    std::uint64_t reserve(std::uint64_t bytes, std::uint64_t align);
    /// A whole reservation in which nothing is mapped.
    void free_reservation(std::uint64_t address, std::uint64_t bytes);
    /// Into a part of a reservation where nothing is mapped. Inaccessible until set_access().
    void map(std::uint64_t address, std::uint64_t bytes,
             const std::shared_ptr<PhysicalMemory> &memory, std::uint64_t offset);
    /// One mapping, or several that lie together.
    void unmap(std::uint64_t address, std::uint64_t bytes);
    void set_access(std::uint64_t address, std::uint64_t bytes, std::uint64_t devices,
                    CUmemAccess_flags flags);

    /// Memory of cuMemAlloc becomes a file's, with what it holds, so that others can map it.
    /// Nothing may be using it. The allocation that contains `address`, with its `backing`.
    Allocation share(std::uint64_t address);
    /// Maps what another process has shared: `size` bytes from `offset` on. Returns their address.
    std::uint64_t open_shared(const std::shared_ptr<PhysicalMemory> &memory, std::uint64_t offset,
                              std::uint64_t size, Context &context);

    /// For hints about a range of managed memory or of variables, which may be managed. Throws
    /// Error(invalid value) for other ranges.
    std::shared_ptr<RangeAdvice> advice(std::uint64_t address, std::uint64_t bytes);

    /// The allocation that contains `address`.
    [[nodiscard]] std::optional<Allocation> find(std::uint64_t address) const;

    /// All that `context` owns; null: all there are.
    [[nodiscard]] std::vector<Allocation> allocations(const Context *context) const;

    /// Whether all `bytes` from `address` on belong to one allocation, or to mappings that lie
    /// together.
    [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t bytes) const;

    /// A description of `address` for messages: "12 bytes after the 400-byte allocation at
    /// 0x7f...".
    [[nodiscard]] std::string describe(std::uint64_t address) const;
    /// The allocation that describe() names.
    [[nodiscard]] std::optional<Allocation> nearest(std::uint64_t address) const;

    [[nodiscard]] std::uint64_t arena_base() const noexcept { return arena_.base(); }
    [[nodiscard]] std::uint64_t arena_size() const noexcept { return arena_.size(); }

  private:
    using Map = std::map<std::uint64_t, Allocation>; // by address

    enum class Relation { Inside, Freed, After, Before };
    struct Near {
        const Allocation *allocation;
        Relation relation;
        std::uint64_t distance; ///< in bytes
    };
    [[nodiscard]] std::optional<Near> near(std::uint64_t address) const; // under the lock

    void place(Allocation &allocation);
    void place_in_slab(Allocation &allocation);
    void place_in_file(Allocation &allocation, std::uint64_t offset_in_other);
    void remove(Map::iterator position);
    void remove_pages(const Allocation &allocation);
    [[nodiscard]] std::vector<Map::iterator> mappings(std::uint64_t address, std::uint64_t bytes);
    Map::const_iterator locate(std::uint64_t address) const;

    /// Remembers recently freed allocations, for reports.
    void remember_freed(const Allocation &allocation);

    mutable std::shared_mutex mutex_;
    Arena arena_;
    Map map_;
    std::map<std::uint64_t, std::uint64_t> reservations_; ///< address, bytes
    std::uint64_t page_runs_ = 0; ///< allocations that have pages of their own
    std::uint64_t next_id_ = 1;
    std::map<std::uint64_t, std::vector<std::uint64_t>> free_pieces_; ///< slab pieces by their size
    std::vector<Allocation> freed_;                                   ///< a ring of the latest
    std::size_t freed_next_ = 0;
};

} // namespace softcuda::device
