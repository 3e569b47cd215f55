// memory_pool.h -- memory that is allocated and freed in the order of a stream.
#pragma once

#include "device/address_space.h"
#include "device/stream.h"

#include <atomic>
#include <cstdint>
#include <cuda.h>
#include <memory>

namespace softcuda::device {

class Device;
class PoolFile;

/// The location of a pool's memory, in CUDA's terms. Two places are equal if their ids are.
struct PoolPlace {
    CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
    CUmemLocation location{};

    /// The place that a client names: the id is 0 if CUDA ignores it. Throws Error(invalid value,
    /// invalid device) for places without pools.
    static PoolPlace of(CUmemAllocationType type, const CUmemLocation &location);
    /// The place of a device's memory.
    static PoolPlace of(const Device &device) noexcept;
    [[nodiscard]] bool is_device_memory() const noexcept {
        return type == CU_MEM_ALLOCATION_TYPE_PINNED &&
               location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    }
    friend bool operator==(const PoolPlace &a, const PoolPlace &b) noexcept {
        return a.type == b.type && a.location.type == b.location.type &&
               a.location.id == b.location.id;
    }
    [[nodiscard]] ClientMemory client_memory() const noexcept;
    /// The device of the location; the first device for host memory and for no location.
    [[nodiscard]] Device &device() const;
};

/// A pool of cuMemPoolCreate, or a device's default pool. Memory is allocated at once, because its
/// address is valid also before the stream reaches the allocation. When the stream reaches the
/// free, the memory is returned to the system.
class MemoryPool {
  public:
    /// A pool of a device's memory.
    explicit MemoryPool(Device &device) noexcept;
    /// `most_bytes` is the maximum that can be allocated at a time, 0 for no limit. With a file,
    /// its pages are the memory. If another process created the file, nothing can be allocated.
    MemoryPool(const PoolPlace &place, std::uint64_t most_bytes,
               std::shared_ptr<PoolFile> file = nullptr)
        : device_(place.device()), place_(place), most_bytes_(most_bytes), file_(std::move(file)) {}

    [[nodiscard]] Device &device() const noexcept { return device_; }
    [[nodiscard]] const PoolPlace &place() const noexcept { return place_; }
    /// Null for a pool that only this process uses.
    [[nodiscard]] const std::shared_ptr<PoolFile> &file() const noexcept { return file_; }

    /// Memory of the process that created the file, from `offset` in the file on.
    std::uint64_t open(Context &context, std::uint64_t offset, std::uint64_t bytes);

    /// Address 0 for 0 bytes, as in CUDA. Throws Error(out of memory, invalid value).
    std::uint64_t allocate(Stream &stream, std::uint64_t bytes);

    /// Frees memory of any pool after the earlier work of `stream`. Throws Error(invalid value).
    static void free(Stream &stream, std::uint64_t address);
    /// Frees an allocation of any pool at once. Throws Error(invalid value) if it was freed before.
    static void free_now(const Allocation &allocation);
    /// Frees all memory that pools allocated in a context.
    static void free_all(const Context &context);

    /// CU_MEMPOOL_ATTR_*. Throws Error(invalid value).
    [[nodiscard]] std::uint64_t attribute(CUmemPool_attribute attribute) const;
    void set_attribute(CUmemPool_attribute attribute, std::uint64_t value);

  private:
    void take(std::uint64_t bytes);

    Device &device_;
    PoolPlace place_;
    std::uint64_t most_bytes_ = 0;
    std::shared_ptr<PoolFile> file_;
    std::atomic<std::uint64_t> used_{0};
    std::atomic<std::uint64_t> used_high_{0};
    std::atomic<std::uint64_t> release_threshold_{0};
    std::atomic<std::uint64_t> reuse_follow_{1}, reuse_opportunistic_{1}, reuse_internal_{1};
};

/// The pools of each place: the default pool, which always exists, and the current pool, which is
/// used if the client names none.
[[nodiscard]] std::shared_ptr<MemoryPool> default_pool(const PoolPlace &place);
[[nodiscard]] std::shared_ptr<MemoryPool> current_pool(const PoolPlace &place);
/// `pool` must have that place.
void set_current_pool(const PoolPlace &place, const std::shared_ptr<MemoryPool> &pool);

/// Allocates from the address space. If there is no memory, waits up to a second for streams that
/// will free some. Throws Error(out of memory, invalid value).
[[nodiscard]] std::uint64_t allocate_or_wait(const AddressSpace::Request &request);

} // namespace softcuda::device
