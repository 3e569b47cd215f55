// memory.h -- memory of the device, and memory of the host that the device can reach.
#pragma once

#include <pycuda/context.h>
#include <pycuda/host_range.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <cstddef>
#include <memory>

namespace pycuda {

/// Memory on the device. Owns it and keeps its context alive.
class DeviceMemory {
  public:
    /// In the current context. 0 bytes is an error of the driver, as in PyCUDA.
    explicit DeviceMemory(std::size_t bytes);
    /// As above, in this context.
    DeviceMemory(const Context &context, std::size_t bytes);
    /// Takes over memory from cuMemAlloc; frees it at the end.
    static DeviceMemory adopt(CUdeviceptr address, std::size_t bytes, Context context);
    /// Uses memory that other code frees.
    static DeviceMemory borrow(CUdeviceptr address, std::size_t bytes, Context context);

    DeviceMemory(DeviceMemory &&other) noexcept;
    DeviceMemory &operator=(DeviceMemory &&other) noexcept;
    ~DeviceMemory();

    /// The address. Throws Error (invalid handle) after free().
    CUdeviceptr get() const {
        if (address_ == 0) [[unlikely]]
            throw_freed("device_allocation::get");
        return address_;
    }
    /// The requested size in bytes.
    std::size_t size() const noexcept { return bytes_; }
    /// The context of the memory.
    const Context &context() const noexcept { return context_; }
    /// True after free() and release().
    bool freed() const noexcept { return address_ == 0; }

    /// Frees the memory now, or when the last result of keep() is destroyed. Throws if it was freed
    /// before.
    void free();
    /// Releases the ownership without freeing the memory. Throws std::logic_error after keep().
    CUdeviceptr release();
    /// Keeps the memory as long as the result exists, even after free(). Throws Error after free().
    [[nodiscard]] std::shared_ptr<const void> keep();

  private:
    DeviceMemory(CUdeviceptr address, std::size_t bytes, Context context, bool owned);
    [[noreturn]] void throw_freed(const char *function) const;
    void reset() noexcept;

    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0;
    Context context_;
    bool owned_ = true;
    CUdeviceptr freed_address_ = 0;    // for the message
    std::shared_ptr<const void> kept_; // owns the memory after keep()
};

/// Rows of `width` bytes, each starting `pitch` bytes after the one before.
struct PitchedMemory {
    /// All rows: at least height * pitch bytes.
    DeviceMemory memory;
    /// Bytes from the start of a row to the start of the next.
    std::size_t pitch = 0;
};

/// Rows laid out so that accesses of `access_bytes` (4, 8 or 16) coalesce.
PitchedMemory allocate_pitched(std::size_t width, std::size_t height, unsigned access_bytes);

/// The begin and the size, in bytes, of an allocation.
struct AddressRange {
    /// The first address.
    CUdeviceptr base = 0;
    /// In bytes.
    std::size_t size = 0;
};
/// The allocation that contains an address.
AddressRange address_range(CUdeviceptr address);

/// Page-locked host memory, which the device accesses directly in copies. Kernels can access the
/// memory if the flags contain CU_MEMHOSTALLOC_DEVICEMAP. Owns it.
class PinnedMemory {
  public:
    /// In the current context; flags are CU_MEMHOSTALLOC_*.
    explicit PinnedMemory(std::size_t bytes, unsigned flags = 0);

    /// Throws Error (invalid handle) after free().
    void *data() const;
    /// The requested size in bytes.
    std::size_t size() const noexcept { return range_.size(); }
    /// The context in which the memory was allocated.
    const Context &context() const noexcept { return range_.context(); }
    /// The address for kernels. Throws Error after free(), or if the driver has no address.
    CUdeviceptr device_pointer() const;
    /// The flags of the allocation, CU_MEMHOSTALLOC_*, as the driver reports them. Throws Error
    /// after free().
    unsigned flags() const;
    /// True after free().
    bool freed() const noexcept { return range_.data() == nullptr; }
    /// Frees the memory now. Throws Error if it was freed before.
    void free();

  private:
    detail::HostRange range_;
    ContextHold hold_; // arrays may use the memory
};

/// Managed memory: one address for host and device. The driver moves its pages. Owns it.
class ManagedMemory {
  public:
    /// In the current context; attach is CU_MEM_ATTACH_GLOBAL, _HOST or _SINGLE.
    explicit ManagedMemory(std::size_t bytes, unsigned attach = CU_MEM_ATTACH_GLOBAL);

    /// The address on the device. Throws Error (invalid handle) after free().
    CUdeviceptr get() const { return memory_.get(); }
    /// The same address for the host. Throws as get().
    void *data() const { return reinterpret_cast<void *>(memory_.get()); }
    /// The requested size in bytes.
    std::size_t size() const noexcept { return memory_.size(); }
    /// The context in which the memory was allocated.
    const Context &context() const noexcept { return memory_.context(); }
    /// True after free().
    bool freed() const noexcept { return memory_.freed(); }

    /// Attaches the memory to a stream, or to all streams (CU_MEM_ATTACH_GLOBAL).
    void attach(unsigned attach, StreamRef stream = {}) const;
    /// Frees the memory now. Throws Error if it was freed before.
    void free() {
        memory_.free();
        hold_.reset();
    }

  private:
    DeviceMemory memory_;
    ContextHold hold_; // arrays may use the memory
};

/// Ordinary host memory that starts at a multiple of `alignment`, a power of two. Independent of
/// devices; register the memory for fast copies. Owns it.
class AlignedHostMemory {
  public:
    /// Uninitialised memory. Throws Error (invalid value) if `alignment` is not a power of two.
    AlignedHostMemory(std::size_t bytes, std::size_t alignment = 4096);
    AlignedHostMemory(AlignedHostMemory &&other) noexcept;
    AlignedHostMemory &operator=(AlignedHostMemory &&other) noexcept;
    ~AlignedHostMemory();

    /// The first byte. Throws Error (invalid handle) after free().
    void *data() const;
    /// The requested size in bytes.
    std::size_t size() const noexcept { return bytes_; }
    /// True after free().
    bool freed() const noexcept { return data_ == nullptr; }
    /// Frees the memory now. Throws Error if it was freed before.
    void free();

  private:
    void *data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Host memory of another owner, page-locked while this object lives. The memory must outlive it.
class RegisteredHostMemory {
  public:
    /// In the current context; flags are CU_MEMHOSTREGISTER_*.
    RegisteredHostMemory(void *data, std::size_t bytes, unsigned flags = 0);

    /// Throws Error (invalid handle) after unregister().
    void *data() const;
    /// The registered size in bytes.
    std::size_t size() const noexcept { return range_.size(); }
    /// The context in which the memory is registered.
    const Context &context() const noexcept { return range_.context(); }
    /// The address for kernels. Throws Error after unregister().
    CUdeviceptr device_pointer() const;
    /// Ends the registration now; the memory itself stays valid. Throws Error if called twice.
    void unregister();

  private:
    detail::HostRange range_;
};

} // namespace pycuda
