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

/// Where a pool's memory is to be, in CUDA's words. Two places are the same where the ids are.
struct PoolPlace {
    CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
    CUmemLocation location{};

    /// The place that a client names: the id is 0 where CUDA ignores it. Throws Error(invalid
    /// value, invalid device) for places where no pool can be.
    static PoolPlace of(CUmemAllocationType type, const CUmemLocation &location);
    /// A device's own memory.
    static PoolPlace of(const Device &device) noexcept;
    [[nodiscard]] bool is_device_memory() const noexcept {
        return type == CU_MEM_ALLOCATION_TYPE_PINNED &&
               location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    }
    friend bool operator==(const PoolPlace &a, const PoolPlace &b) noexcept {
        return a.type == b.type && a.location.type == b.location.type &&
               a.location.id == b.location.id;
    }
    [[nodiscard]] Residence residence() const noexcept;
    /// That of the location; the first one for the host's memory, and where there is no location.
    [[nodiscard]] Device &device() const;
};

/// A pool, as cuMemPoolCreate makes one, or a device's default one. Memory is handed out at once:
/// an address that the stream has not reached yet is as good as one that it has. It is freed when
/// the stream gets there, and given back to the system.
class MemoryPool {
  public:
    /// Of a device's memory.
    explicit MemoryPool(Device &device) noexcept;
    /// `most_bytes` are the most that are handed out at a time, 0 for no limit. With a file, its
    /// pages are the memory. If another process made the file, nothing can be allocated.
    MemoryPool(const PoolPlace &place, std::uint64_t most_bytes,
               std::shared_ptr<PoolFile> file = nullptr)
        : device_(place.device()), place_(place), most_bytes_(most_bytes), file_(std::move(file)) {}

    [[nodiscard]] Device &device() const noexcept { return device_; }
    [[nodiscard]] const PoolPlace &place() const noexcept { return place_; }
    /// Null for a pool of this process alone.
    [[nodiscard]] const std::shared_ptr<PoolFile> &file() const noexcept { return file_; }

    /// Memory of the process that made the file, from `offset` in the file on.
    std::uint64_t open(Context &context, std::uint64_t offset, std::uint64_t bytes);

    /// Address 0 for no bytes, as CUDA does. Throws Error(out of memory, invalid value).
    std::uint64_t allocate(Stream &stream, std::uint64_t bytes);

    /// Frees memory of any pool when the earlier work of `stream` is done. Throws Error(invalid
    /// value).
    static void free(Stream &stream, std::uint64_t address);

    /// CU_MEMPOOL_ATTR_*. Throw Error(invalid value).
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

/// The pools of each place: one that is there from the start, and the one that is taken where the
/// client names none.
[[nodiscard]] std::shared_ptr<MemoryPool> default_pool(const PoolPlace &place);
[[nodiscard]] std::shared_ptr<MemoryPool> current_pool(const PoolPlace &place);
/// `pool` must be of that place.
void set_current_pool(const PoolPlace &place, const std::shared_ptr<MemoryPool> &pool);

/// Memory from the address space. Where there is none, streams that are about to free some get a
/// second to do so. Throws Error(out of memory, invalid value).
[[nodiscard]] std::uint64_t allocate_patiently(const AddressSpace::Request &request);

} // namespace softcuda::device
