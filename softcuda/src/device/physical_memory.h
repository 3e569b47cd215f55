// physical_memory.h -- memory without an address: the pages of a file without a name.
#pragma once

#include <cstdint>
#include <cuda.h>
#include <memory>

namespace softcuda::device {

class Device;

/// Pages that can be mapped at several addresses and in several processes. They exist until their
/// last handle and their last mapping are released.
class PhysicalMemory {
  public:
    /// Zeroed memory of `device`. Throws Error(out of memory).
    PhysicalMemory(Device &device, std::uint64_t bytes, CUmemAllocationHandleType handle_types);
    /// As above for memory that already counts as used.
    static std::shared_ptr<PhysicalMemory> uncounted(Device &device, std::uint64_t bytes);
    /// Memory that this or another process created, from a file descriptor, which is duplicated.
    /// Throws Error(invalid value) for another file.
    static std::shared_ptr<PhysicalMemory> import(Device &device, int file);
    PhysicalMemory(const PhysicalMemory &) = delete;
    PhysicalMemory &operator=(const PhysicalMemory &) = delete;
    ~PhysicalMemory();

    [[nodiscard]] Device &device() const noexcept { return device_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] int file() const noexcept { return file_; }
    [[nodiscard]] CUmemAllocationHandleType handle_types() const noexcept { return handle_types_; }

    /// retain() returns the handle of `memory` and adds a reference; release() and find() throw
    /// Error(invalid value) for an invalid handle.
    static CUmemGenericAllocationHandle retain(const std::shared_ptr<PhysicalMemory> &memory);
    static void release(CUmemGenericAllocationHandle handle);
    static std::shared_ptr<PhysicalMemory> find(CUmemGenericAllocationHandle handle);

  private:
    struct Imported {};
    PhysicalMemory(Device &device, int file, std::uint64_t bytes, Imported) noexcept;

    Device &device_;
    std::uint64_t bytes_;
    int file_ = -1;
    CUmemAllocationHandleType handle_types_;
    bool counted_ = false; ///< counted as used memory of the device
    unsigned handles_ = 0; ///< the client's number of references
};

} // namespace softcuda::device
