// virtual_memory.h -- ranges of addresses, and the memory that is mapped to them.
//
//     PhysicalMemory memory(granularity(device), device);
//     VirtualMemory range(16 * memory.size());     // addresses only: reading them is an error
//     range.map(memory, 0);
//     range.set_access(device);
//
// With these, an array can grow without a move, and processes can share memory.
#pragma once

#include <pycuda/device.h>

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>

namespace pycuda {

/// The granularity in bytes of sizes and addresses: the smallest one, or the driver's
/// recommendation for speed.
enum class Granularity { Minimum, Recommended };
/// The granularity of `device`, in bytes. Throws Error.
std::size_t granularity(const Device &device, Granularity kind = Granularity::Minimum);

/// Memory of a device without an address. A shared reference: the memory is freed after the last
/// reference and the last mapping have ended.
class PhysicalMemory {
  public:
    /// How the memory is shared with another process: not at all, or by a file descriptor.
    enum class Sharing { None, FileDescriptor };

    /// `bytes` is a multiple of granularity(device).
    PhysicalMemory(std::size_t bytes, const Device &device, Sharing sharing = Sharing::None);
    /// Imports memory that another process exported. The caller keeps, and closes, the descriptor.
    static PhysicalMemory import_descriptor(int descriptor, std::size_t bytes);

    /// Throws Error (invalid handle) after close().
    CUmemGenericAllocationHandle get() const;
    /// In bytes; 0 after close().
    std::size_t size() const noexcept;
    /// The device of the memory, as the driver reports it.
    Device device() const;
    /// A new descriptor for another process; the caller closes it.
    int export_descriptor() const;
    /// Gives up this reference now.
    void close() noexcept { state_.reset(); }
    /// True after close().
    bool closed() const noexcept { return state_ == nullptr; }

  private:
    struct State;
    explicit PhysicalMemory(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

/// A range of device addresses. Owns it, and keeps the memory that is mapped into it. Work that
/// uses the range must be done before a call of unmap() or close(), because these do not wait.
class VirtualMemory {
  public:
    /// `bytes` and `alignment` are multiples of granularity(); an alignment of 0 is the driver's
    /// default. `wanted` is the preferred first address; 0 is any address.
    explicit VirtualMemory(std::size_t bytes, std::size_t alignment = 0, CUdeviceptr wanted = 0);
    VirtualMemory(const VirtualMemory &) = delete;
    VirtualMemory &operator=(const VirtualMemory &) = delete;
    ~VirtualMemory();

    /// The first address. Throws Error (invalid handle) after close().
    CUdeviceptr get() const;
    /// The reserved size in bytes.
    std::size_t size() const noexcept { return bytes_; }

    /// Maps all of `memory` at `offset`. set_access() must follow before any access.
    void map(const PhysicalMemory &memory, std::size_t offset);
    /// Unmaps the memory at `offset`.
    void unmap(std::size_t offset);
    /// Sets the access of a device to all mapped memory, or to the memory at `offset`.
    void set_access(const Device &device, CUmemAccess_flags access,
                    std::optional<std::size_t> offset = std::nullopt);
    /// The access of a device to the memory at `offset`. Throws Error.
    CUmemAccess_flags access(const Device &device, std::size_t offset) const;

    /// Unmaps all memory and frees the addresses. A second call does nothing.
    void close() noexcept;

  private:
    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0;
    std::map<std::size_t, PhysicalMemory> mapped_; ///< by offset
};

} // namespace pycuda
