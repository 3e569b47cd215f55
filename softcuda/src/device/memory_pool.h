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

/// A pool, as cuMemPoolCreate makes one, or a device's default one. Memory is handed out at once:
/// an address that the stream has not reached yet is as good as one that it has. It is freed when
/// the stream gets there, and given back to the system.
class MemoryPool {
  public:
    explicit MemoryPool(Device &device) noexcept : device_(device) {}

    [[nodiscard]] Device &device() const noexcept { return device_; }

    /// Throws Error(out of memory, invalid value).
    std::uint64_t allocate(Stream &stream, std::uint64_t bytes);

    /// Frees memory of any pool when the earlier work of `stream` is done. Throws Error(invalid
    /// value).
    static void free(Stream &stream, std::uint64_t address);

    /// CU_MEMPOOL_ATTR_*. Throw Error(invalid value).
    [[nodiscard]] std::uint64_t attribute(CUmemPool_attribute attribute) const;
    void set_attribute(CUmemPool_attribute attribute, std::uint64_t value);

  private:
    Device &device_;
    std::atomic<std::uint64_t> used_{0};
    std::atomic<std::uint64_t> used_high_{0};
    std::atomic<std::uint64_t> release_threshold_{0};
    std::atomic<std::uint64_t> reuse_follow_{1}, reuse_opportunistic_{1}, reuse_internal_{1};
};

/// Memory from the address space. Where there is none, streams that are about to free some get a
/// second to do so. Throws Error(out of memory, invalid value).
[[nodiscard]] std::uint64_t allocate_patiently(const AddressSpace::Request &request);

} // namespace softcuda::device
