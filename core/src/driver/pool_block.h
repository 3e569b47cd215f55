// pool_block.h -- a block of a memory pool, and how many of its bytes are in use.
#pragma once

#include <abi/driver_types.h>

#include <atomic>
#include <cstddef>

namespace pycuda::detail {

/// One allocation of the driver that a pool reuses. All blocks are in a list, so that a message
/// about a failed kernel can name the size of the array instead of the size of the block.
class PoolBlock {
  public:
    explicit PoolBlock(std::size_t size) noexcept;
    ~PoolBlock();
    PoolBlock &operator=(PoolBlock &&) = delete; // no copies either

    /// Set before the first set_used().
    CUdeviceptr address = 0;
    const std::size_t size; ///< as allocated from the driver

    /// The bytes that the block's user requested; 0: the block is free.
    void set_used(std::size_t bytes) noexcept { used_.store(bytes, std::memory_order_release); }

  private:
    friend std::size_t bytes_in_use(CUdeviceptr) noexcept;
    std::atomic<std::size_t> used_{0};
    PoolBlock *previous_ = nullptr, *next_ = nullptr;
};

/// The bytes in use of the block that begins at `address`; 0 if there is no such block. Any thread
/// may call. Takes time proportional to the number of blocks.
[[nodiscard]] std::size_t bytes_in_use(CUdeviceptr address) noexcept;

} // namespace pycuda::detail
