// address_space.h -- all memory that kernels may access, and its owners.
//
// A device pointer is a host address. All memory that the driver allocates (device memory, pinned
// host memory, managed memory, module variables) is in one arena, so generated code tests with one
// comparison whether an address may be device memory. An access between two allocations faults.
// Host memory that the client registered is outside the arena and is looked up.
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
    Device,     ///< cuMemAlloc and similar functions
    Host,       ///< page-locked memory from cuMemHostAlloc
    Managed,    ///< cuMemAllocManaged
    Registered, ///< the client's own memory, after cuMemHostRegister
    Variables,  ///< .global variables of a module
    Constants,  ///< .const variables of a module
    Pool,       ///< cuMemAllocAsync
    Heap,       ///< memory that malloc() in kernels returns
    Array,      ///< texels of a CUDA array
    Mapped,     ///< physical memory at an address that the client chooses: cuMemMap
    Graph,      ///< memory of a graph's node
    Shared,     ///< another process's memory: cuIpcOpenMemHandle
};

/// The kind of memory that the client requested for a pool or for a graph's node. All kinds are
/// allocated in the same memory.
enum class ClientMemory : std::uint8_t { Device, Host, Managed };

/// A range of bytes with one owner. `address` and `size` are what the client requested.
struct Allocation {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    MemoryKind kind = MemoryKind::Device;
    Device *device = nullptr;
    Context *context =
        nullptr; ///< not dereferenced here: it may be destroyed while a copy of this struct exists
    const MemoryPool *pool = nullptr;                  ///< likewise; for MemoryKind::Pool
    ClientMemory client_memory = ClientMemory::Device; ///< for MemoryKind::Pool and Graph
    unsigned flags = 0;                                ///< as given to the allocating call
    std::uint64_t id = 0;        ///< unique in the process: CU_POINTER_ATTRIBUTE_BUFFER_ID
    std::uint64_t run = 0;       ///< the pages of the allocation
    std::uint64_t run_bytes = 0; ///< 0: part of a slab, or not in the arena
    std::shared_ptr<PhysicalMemory> backing; ///< if pages can be shared
    std::shared_ptr<RangeAdvice> advice;     ///< null: no advice
    std::shared_ptr<PoolFile> file;          ///< the file with its pages; null: private pages
    std::uint64_t file_offset = 0;           ///< offset of the first page
    std::uint32_t knows_writes =
        0; ///< since when all writes are recorded (checked_memory.h); 0: never
    std::uint64_t readers = 0, writers = 0; ///< for mapped memory: a bit for each device

    /// The driver's or the client's page-locked host memory.
    [[nodiscard]] bool is_host() const noexcept {
        return kind == MemoryKind::Host || kind == MemoryKind::Registered ||
               client_memory == ClientMemory::Host;
    }
    /// Whether `size` counts as used memory of the device in this process.
    [[nodiscard]] bool counts() const noexcept;
    [[nodiscard]] bool is_managed() const noexcept {
        return kind == MemoryKind::Managed || client_memory == ClientMemory::Managed;
    }
};

/// The allocator and the map of all allocations. Any thread may call any function.
class AddressSpace {
  public:
    /// Reserves `arena_bytes` of addresses, or less if the process is not allowed as many. Behind
    /// each allocation, kernels may access `slack` bytes more.
    explicit AddressSpace(std::uint64_t arena_bytes, std::uint64_t slack = 0);

    /// The properties of a new allocation.
    struct Request {
        std::uint64_t size = 0;
        MemoryKind kind = MemoryKind::Device;
        Device *device = nullptr;
        Context *context = nullptr;
        unsigned flags = 0;
        const MemoryPool *pool = nullptr;
        ClientMemory client_memory = ClientMemory::Device;
        std::shared_ptr<PoolFile> file = nullptr; ///< null: private pages
        std::uint64_t offset_in_other = 0; ///< offset of the memory in a file of another process
    };

    /// Zeroed memory at a multiple of 256. Its end is as close to an inaccessible page as the
    /// alignment allows. Throws Error: invalid value for 0 bytes, out of memory.
    std::uint64_t allocate(const Request &request);

    /// Frees the allocation that starts at `address`. Throws Error(invalid value) if there is none,
    /// or if it is of another kind.
    void free(std::uint64_t address, MemoryKind kind);

    /// Frees all allocations of `context`.
    void free_all(const Context *context);

    /// Makes the client's memory accessible to kernels. Throws Error: already registered.
    void register_host(const Request &request, std::uint64_t address);
    void unregister_host(std::uint64_t address);

    // Addresses without memory, and memory for them: see virtual_memory.cpp. These throw
    // Error(invalid value) for ranges that are not as described.

    /// Reserves addresses that no allocation uses.
    std::uint64_t reserve(std::uint64_t bytes, std::uint64_t align);
    /// Frees a whole reservation in which nothing is mapped.
    void free_reservation(std::uint64_t address, std::uint64_t bytes);
    /// Maps memory into a part of a reservation where nothing is mapped. Inaccessible until
    /// set_access().
    void map(std::uint64_t address, std::uint64_t bytes,
             const std::shared_ptr<PhysicalMemory> &memory, std::uint64_t offset);
    /// Unmaps one mapping, or several contiguous mappings.
    void unmap(std::uint64_t address, std::uint64_t bytes);
    void set_access(std::uint64_t address, std::uint64_t bytes, std::uint64_t devices,
                    CUmemAccess_flags flags);

    /// Moves memory of cuMemAlloc to a file, with its content, so that other processes can map it.
    /// The memory must not be in use. Returns the allocation that contains `address`, with its
    /// `backing`.
    Allocation share(std::uint64_t address);
    /// Maps shared memory of another process: `size` bytes from `offset` on. Returns the address.
    std::uint64_t open_shared(const std::shared_ptr<PhysicalMemory> &memory, std::uint64_t offset,
                              std::uint64_t size, Context &context);

    /// The hints for a range of managed memory or of module variables, which may be managed. Throws
    /// Error(invalid value) for other ranges.
    std::shared_ptr<RangeAdvice> advice(std::uint64_t address, std::uint64_t bytes);

    /// The allocation that contains `address`.
    [[nodiscard]] std::optional<Allocation> find(std::uint64_t address) const;

    /// All allocations of `context`; null: of all contexts.
    [[nodiscard]] std::vector<Allocation> allocations(const Context *context) const;

    /// Whether all `bytes` from `address` on are in one allocation, or in contiguous mappings.
    [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t bytes) const;

    /// A description of `address` for messages: "12 bytes after the 400-byte allocation at
    /// 0x7f...".
    [[nodiscard]] std::string describe(std::uint64_t address) const;
    /// The allocation that describe() names, with the size that describe() names.
    [[nodiscard]] std::optional<Allocation> nearest(std::uint64_t address) const;
    /// The distance from the end of the allocation that describe() names; empty if the address is
    /// not after its end.
    [[nodiscard]] std::optional<std::uint64_t> bytes_past_end(std::uint64_t address) const;

    /// The client's pools allocate more than their users requested. `bytes_in_use` returns the
    /// number of bytes that the user of the pool's block at an address requested, or 0 if there is
    /// no such block. Messages then name that size. Called under a lock: must not call the driver.
    static void ask_for_block_sizes(std::size_t (*bytes_in_use)(CUdeviceptr block)) noexcept;
    /// The bytes of an allocation that its user requested, of the driver or of a pool.
    [[nodiscard]] static std::uint64_t requested_bytes(const Allocation &allocation);

    [[nodiscard]] std::uint64_t arena_base() const noexcept { return arena_.base(); }
    [[nodiscard]] std::uint64_t arena_size() const noexcept { return arena_.size(); }

  private:
    using Map = std::map<std::uint64_t, Allocation>; // by address

    enum class Relation { Inside, Freed, After, Before };
    struct Near {
        Allocation allocation;
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

    /// Records recently freed allocations, for reports.
    void remember_freed(const Allocation &allocation);

    mutable std::shared_mutex mutex_;
    Arena arena_;
    const std::uint64_t slack_;
    Map map_;
    std::map<std::uint64_t, std::uint64_t> reservations_; ///< address, bytes
    std::uint64_t page_runs_ = 0; ///< number of allocations with separate pages
    std::uint64_t next_id_ = 1;
    std::map<std::uint64_t, std::vector<std::uint64_t>> free_pieces_; ///< slab pieces by their size
    std::vector<Allocation> freed_; ///< a ring buffer of the latest
    std::size_t freed_next_ = 0;
};

} // namespace softcuda::device
