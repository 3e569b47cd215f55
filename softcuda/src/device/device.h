// device.h -- one software device: its size, its attributes, its primary context.
#pragma once

#include "rt/busy_time.h"

#include <atomic>
#include <cstdint>
#include <cuda.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace softcuda::device {

class Context;
class MemoryPool;

/// Limits that launches are checked against, and that attributes and occupancy report. In bytes.
struct DeviceLimits {
    unsigned threads_per_block = 1024;
    unsigned threads_per_multiprocessor = 1536;
    unsigned blocks_per_multiprocessor = 16;
    unsigned registers_per_block = 65536;
    unsigned shared_per_block = 48 * 1024;
    unsigned shared_per_block_optin = 99 * 1024;
    unsigned shared_per_multiprocessor = 100 * 1024;
    unsigned reserved_shared_per_block = 1024;
};

/// The name of devices, which is equal in all processes.
std::string device_name();
CUuuid device_uuid(int ordinal);
std::string device_pci_bus_id(int ordinal); ///< "0000:01:00.0"

/// One device. Exists as long as the process.
class Device {
  public:
    Device(int ordinal, std::uint64_t memory_bytes, int architecture, unsigned multiprocessors);
    ~Device();

    [[nodiscard]] int ordinal() const noexcept { return ordinal_; }
    [[nodiscard]] const std::string &name() const noexcept { return name_; }
    [[nodiscard]] int architecture() const noexcept { return architecture_; } ///< 86 for sm_86
    [[nodiscard]] unsigned multiprocessors() const noexcept { return multiprocessors_; }
    [[nodiscard]] const DeviceLimits &limits() const noexcept { return limits_; }
    [[nodiscard]] CUuuid uuid() const { return device_uuid(ordinal_); }
    [[nodiscard]] std::string pci_bus_id() const { return device_pci_bus_id(ordinal_); }

    /// The value of an attribute; empty if the number is not an attribute.
    [[nodiscard]] std::optional<int> attribute(CUdevice_attribute attribute) const;

    [[nodiscard]] std::uint64_t total_memory() const noexcept { return total_memory_; }
    [[nodiscard]] std::uint64_t free_memory() const noexcept {
        return total_memory_ - used_.load();
    }

    /// Counts `bytes` as used; false if the device has less memory left.
    [[nodiscard]] bool take_memory(std::uint64_t bytes) noexcept;
    void return_memory(std::uint64_t bytes) noexcept { used_ -= bytes; }

    /// The time that kernels have run on the device: see rt::WorkerPool::total().
    [[nodiscard]] rt::BusyTime &busy_time() noexcept { return busy_time_; }

    /// The primary context: always the same object, active while it is retained.
    Context &retain_primary();
    void release_primary();
    void reset_primary();
    void set_primary_flags(unsigned flags);
    [[nodiscard]] unsigned primary_flags() const;
    [[nodiscard]] bool primary_active() const;

    /// The pools for cuMemAllocAsync: the current pool, which initially is the default pool.
    [[nodiscard]] std::shared_ptr<MemoryPool> default_pool() const { return default_pool_; }
    [[nodiscard]] std::shared_ptr<MemoryPool> current_pool() const;
    void set_current_pool(std::shared_ptr<MemoryPool> pool);

  private:
    int ordinal_;
    int architecture_;
    unsigned multiprocessors_;
    std::uint64_t total_memory_;
    DeviceLimits limits_;
    std::string name_;
    std::atomic<std::uint64_t> used_{0};
    rt::BusyTime busy_time_;

    mutable std::mutex primary_mutex_;
    std::shared_ptr<Context> primary_;
    unsigned primary_uses_ = 0;
    unsigned primary_flags_ = 0;

    std::shared_ptr<MemoryPool> default_pool_;
    std::shared_ptr<MemoryPool> current_pool_; ///< protected by primary_mutex_
};

} // namespace softcuda::device
