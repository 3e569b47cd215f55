// memory_pool.h -- keeps freed blocks for the next allocation of about the same size.
//
// Sizes fall into bins: 16 bins per power of two, so that rounding up wastes less than 1/16. A
// freed block stays in its bin. An allocation takes the block that was freed last. If the bin is
// empty, the driver allocates. If the driver is out of memory, the pool frees its blocks and tries
// again.
//
//     size 100:  floor(log2) = 6, next four bits 1001  ->  bin 6*16+9, blocks of 103 bytes
#pragma once

#include <pycuda/context.h>
#include <pycuda/memory.h>

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace pycuda {

/// The bin that allocations of `size` bytes are served from.
unsigned pool_bin_number(std::size_t size) noexcept;
/// The size of a bin's blocks: the largest size that falls into it.
std::size_t pool_block_size(unsigned bin) noexcept;

namespace detail {
class BlockPool;
class PoolBlock;
} // namespace detail

/// The blocks of a pool and their bytes, at one moment.
struct PoolStatistics {
    std::size_t held_blocks = 0;   ///< free blocks that wait for an allocation
    std::size_t active_blocks = 0; ///< in use
    std::size_t managed_bytes = 0; ///< both, as allocated from the driver
    std::size_t active_bytes = 0;  ///< in use: the sum of the requested sizes
};

/// A block of a pool. The destructor returns the block to the pool. May outlive the pool object.
class PooledMemory {
  public:
    PooledMemory(PooledMemory &&other) noexcept;
    PooledMemory &operator=(PooledMemory &&other) noexcept;
    ~PooledMemory();

    /// The address on the device, or on the host of a pinned pool. Throws after free().
    CUdeviceptr get() const {
        if (pool_ == nullptr) [[unlikely]]
            throw_freed("pooled_device_allocation::get");
        return address_;
    }
    /// get() as a pointer.
    void *data() const { return reinterpret_cast<void *>(get()); }
    /// The requested size in bytes.
    std::size_t size() const noexcept { return bytes_; }
    /// True after free().
    bool freed() const noexcept { return pool_ == nullptr; }
    /// The context of the pool. Throws after free().
    const Context &context() const;
    /// Returns the block to the pool now. Throws if it was returned before.
    void free();

  private:
    friend class MemoryPool;
    PooledMemory(std::shared_ptr<detail::BlockPool> pool, detail::PoolBlock *block,
                 std::size_t bytes) noexcept;
    [[noreturn]] void throw_freed(const char *function) const;

    std::shared_ptr<detail::BlockPool> pool_;
    detail::PoolBlock *block_ = nullptr;
    CUdeviceptr address_ = 0; ///< of the block
    std::size_t bytes_ = 0;
};

/// A pool of device memory or of pinned host memory. Any thread may call anything.
class MemoryPool {
  public:
    /// Of the current context.
    static MemoryPool device();
    /// Of the current context; flags are CU_MEMHOSTALLOC_*.
    static MemoryPool pinned(unsigned flags = 0);

    /// A block of at least this size. If the device is out of memory, the pool calls the function
    /// of on_out_of_memory(), frees its unused blocks, and tries again. Throws Error.
    PooledMemory allocate(std::size_t bytes);
    /// The blocks and the bytes of the pool now.
    PoolStatistics statistics() const noexcept;
    /// The context of the pool.
    const Context &context() const noexcept;

    /// Returns the free blocks to the driver.
    void free_held();
    /// Moves the free blocks to another pool of the same kind and context.
    void move_held_to(MemoryPool &heir);
    /// From now on, returned blocks are freed.
    void stop_holding();

    /// Called when the driver is out of memory, before free blocks are freed. The function may
    /// release objects that own blocks of this pool. Set it before the pool is shared with other
    /// threads.
    void on_out_of_memory(std::function<void()> reclaim);

  private:
    explicit MemoryPool(std::shared_ptr<detail::BlockPool> pool) noexcept;
    std::shared_ptr<detail::BlockPool> pool_;
};

} // namespace pycuda
