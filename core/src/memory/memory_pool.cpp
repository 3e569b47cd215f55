// memory_pool.cpp -- keeps freed blocks and reuses them for allocations of about the same size.
//
// The usual allocation takes a block from a bin, and the usual free returns it to the bin. Both
// make no driver call, and take one lock, which is held for a few instructions and is shared only
// with users of the same bin.
#include <pycuda/memory_pool.h>

#include "context/outside_captures.h"
#include "driver/block_marks.h"
#include "driver/pool_block.h"
#include "memory/freed.h"

#include <pycuda/caller_lock.h>
#include <pycuda/driver.h>
#include <pycuda/handle.h>

#include <array>
#include <atomic>
#include <bit>
#include <thread>
#include <utility>
#include <vector>

namespace pycuda {
namespace {

constexpr unsigned mantissa_bits = 4;
constexpr unsigned bin_count = 64 << mantissa_bits;

/// A lock for critical sections of a few instructions.
class SpinLock {
  public:
    void lock() noexcept {
        while (locked_.test_and_set(std::memory_order_acquire))
            std::this_thread::yield();
    }
    void unlock() noexcept { locked_.clear(std::memory_order_release); }

  private:
    std::atomic_flag locked_;
};

/// The driver's functions that allocate and free blocks.
struct BlockSource {
    CUresult (*allocate)(CUdeviceptr *address, std::size_t bytes, unsigned flags);
    CUresult (*free)(CUdeviceptr address);
    const char *allocate_name;
    const char *free_name;
};

constexpr BlockSource device_source = {
    [](CUdeviceptr *address, std::size_t bytes, unsigned) {
        return driver().cuMemAlloc.status(address, bytes);
    },
    [](CUdeviceptr address) { return driver().cuMemFree.status(address); },
    "cuMemAlloc",
    "cuMemFree",
};

constexpr BlockSource pinned_source = {
    [](CUdeviceptr *address, std::size_t bytes, unsigned flags) {
        void *data = nullptr;
        CUresult result = driver().cuMemHostAlloc.status(&data, bytes, flags);
        *address = reinterpret_cast<CUdeviceptr>(data);
        return result;
    },
    [](CUdeviceptr address) {
        return driver().cuMemFreeHost.status(reinterpret_cast<void *>(address));
    },
    "cuMemHostAlloc",
    "cuMemFreeHost",
};

} // namespace

// The size as a floating-point number: the exponent, then the four bits after the leading one. For
// sizes below 16, the shift goes to the left; each such size has its own bin.
unsigned pool_bin_number(std::size_t size) noexcept {
    if (size == 0)
        return 0;
    const auto exponent = static_cast<unsigned>(std::bit_width(size)) - 1;
    const std::size_t leading = exponent >= mantissa_bits ? size >> (exponent - mantissa_bits)
                                                          : size << (mantissa_bits - exponent);
    return exponent << mantissa_bits | static_cast<unsigned>(leading & ((1 << mantissa_bits) - 1));
}

std::size_t pool_block_size(unsigned bin) noexcept {
    const unsigned exponent = bin >> mantissa_bits;
    const std::size_t leading =
        (std::size_t{1} << mantissa_bits) | (bin & ((1 << mantissa_bits) - 1));
    if (exponent < mantissa_bits)
        return leading >> (mantissa_bits - exponent);
    const std::size_t below = (std::size_t{1} << (exponent - mantissa_bits)) - 1;
    return leading << (exponent - mantissa_bits) | below;
}

namespace detail {

class BlockPool {
  public:
    BlockPool(const BlockSource &source, unsigned flags, Context context)
        : source_(source), flags_(flags), context_(std::move(context)) {}
    ~BlockPool() { free_held(); }

    /// The bytes are in use until give_back().
    PoolBlock *allocate(std::size_t bytes);
    void give_back(PoolBlock *block, std::size_t bytes) noexcept;
    void free_held() noexcept;
    void move_held_to(BlockPool &heir) noexcept;
    void stop_holding() noexcept;

    PoolStatistics statistics() const noexcept {
        return {held_blocks_, active_blocks_, managed_bytes_, active_bytes_};
    }
    const Context &context() const noexcept { return context_; }
    /// Whether blocks in use are reported to a driver with check modes.
    bool is_marking() const noexcept { return marks_blocks.load(std::memory_order_relaxed); }

    std::function<void()> reclaim;

  private:
    struct Bin {
        SpinLock lock;
        std::vector<PoolBlock *> blocks; // a stack: the last block returned is reused first
    };

    PoolBlock *take(unsigned bin) noexcept;
    bool put(unsigned bin, PoolBlock *block) noexcept;
    PoolBlock *ask_driver(std::size_t block_size);
    PoolBlock *allocate_block(unsigned bin, std::size_t bytes);
    bool free_largest_held() noexcept;
    void free_block(PoolBlock *block) noexcept;

    const BlockSource &source_;
    const unsigned flags_;
    const Context context_;
    std::array<Bin, bin_count> bins_;
    std::atomic<bool> holding_{true};
    std::atomic<std::size_t> held_blocks_{0};
    std::atomic<std::size_t> active_blocks_{0};
    std::atomic<std::size_t> managed_bytes_{0};
    std::atomic<std::size_t> active_bytes_{0};
};

PoolBlock *BlockPool::take(unsigned bin) noexcept {
    Bin &place = bins_[bin];
    std::lock_guard lock(place.lock);
    if (place.blocks.empty())
        return nullptr;
    PoolBlock *block = place.blocks.back();
    place.blocks.pop_back();
    --held_blocks_;
    return block;
}

bool BlockPool::put(unsigned bin, PoolBlock *block) noexcept {
    Bin &place = bins_[bin];
    std::lock_guard lock(place.lock);
    try {
        place.blocks.push_back(block);
    } catch (...) {
        return false; // no host memory for an entry: the caller frees the block
    }
    ++held_blocks_;
    return true;
}

/// Null if the driver is out of memory.
PoolBlock *BlockPool::ask_driver(std::size_t block_size) {
    auto block = std::make_unique<PoolBlock>(block_size);
    const ScopedContext scope(context_);
    const OutsideCaptures outside;
    CUresult result = source_.allocate(&block->address, block_size, flags_);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return nullptr;
    if (result != CUDA_SUCCESS)
        throw Error(source_.allocate_name, result,
                    "requested " + std::to_string(block_size) + " bytes");
    managed_bytes_ += block_size;
    return block.release();
}

/// Allocates a block for `bytes` from the driver. Frees unused blocks of other bins if the driver
/// is out of memory.
PoolBlock *BlockPool::allocate_block(unsigned bin, std::size_t bytes) {
    const std::size_t block_size = pool_block_size(bin);
    if (PoolBlock *block = ask_driver(block_size))
        return block;
    if (reclaim)
        reclaim();
    if (PoolBlock *reclaimed = take(bin))
        return reclaimed;
    while (free_largest_held())
        if (PoolBlock *block = ask_driver(block_size))
            return block;
    // The program's reclaim() may have freed memory that did not belong to this pool.
    if (reclaim)
        if (PoolBlock *block = ask_driver(block_size))
            return block;
    throw Error("memory_pool::allocate", CUDA_ERROR_OUT_OF_MEMORY,
                "failed to free memory for allocation: requested " + std::to_string(bytes) +
                    " bytes (a block of " + std::to_string(block_size) + "), the pool has " +
                    std::to_string(active_bytes_) + " bytes in use and no free block left");
}

PoolBlock *BlockPool::allocate(std::size_t bytes) {
    const unsigned bin = pool_bin_number(bytes);
    PoolBlock *block = take(bin);
    if (block == nullptr) [[unlikely]]
        block = allocate_block(bin, bytes);
    ++active_blocks_;
    active_bytes_ += bytes;
    block->set_used(bytes);
    if (is_marking()) [[unlikely]]
        mark_block(block->address, bytes, BlockUse::Taken);
    return block;
}

void BlockPool::give_back(PoolBlock *block, std::size_t bytes) noexcept {
    --active_blocks_;
    active_bytes_ -= bytes;
    if (is_marking()) [[unlikely]] {
        const CallerUnlocked unlocked; // the driver may wait for kernels that use the block
        mark_block(block->address, bytes, BlockUse::GivenBack);
    }
    block->set_used(0);
    if (!holding_.load(std::memory_order_relaxed) || !put(pool_bin_number(bytes), block))
        free_block(block);
}

void BlockPool::free_block(PoolBlock *freed) noexcept {
    const std::unique_ptr<PoolBlock> block(freed);
    managed_bytes_ -= block->size;
    struct Call {
        const BlockSource &source;
        CUdeviceptr address;
    } call{source_, block->address};
    run_cleanup(
        context_, source_.free_name,
        [](void *data) {
            const Call &call = *static_cast<Call *>(data);
            return call.source.free(call.address);
        },
        &call);
}

bool BlockPool::free_largest_held() noexcept {
    for (unsigned bin = bin_count; bin-- > 0;)
        if (PoolBlock *block = take(bin)) {
            free_block(block);
            return true;
        }
    return false;
}

void BlockPool::free_held() noexcept {
    for (unsigned bin = 0; bin < bin_count; ++bin)
        while (PoolBlock *block = take(bin))
            free_block(block);
}

void BlockPool::move_held_to(BlockPool &heir) noexcept {
    for (unsigned bin = 0; bin < bin_count; ++bin)
        while (PoolBlock *block = take(bin)) {
            managed_bytes_ -= block->size;
            heir.managed_bytes_ += block->size;
            if (!heir.put(bin, block))
                heir.free_block(block);
        }
}

void BlockPool::stop_holding() noexcept {
    holding_ = false;
    free_held();
}

} // namespace detail

PooledMemory::PooledMemory(std::shared_ptr<detail::BlockPool> pool, detail::PoolBlock *block,
                           std::size_t bytes) noexcept
    : pool_(std::move(pool)), block_(block), address_(block->address), bytes_(bytes) {}

PooledMemory::PooledMemory(PooledMemory &&other) noexcept = default;

PooledMemory &PooledMemory::operator=(PooledMemory &&other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(block_, other.block_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

PooledMemory::~PooledMemory() {
    if (pool_)
        pool_->give_back(block_, bytes_);
}

void PooledMemory::free() {
    if (freed())
        throw_freed("pooled_device_allocation::free");
    // Another thread may call free() while this thread waits.
    const std::shared_ptr<detail::BlockPool> pool = std::exchange(pool_, nullptr);
    pool->give_back(block_, bytes_);
}

const Context &PooledMemory::context() const {
    if (freed())
        throw_freed("pooled_device_allocation::get");
    return pool_->context();
}

void PooledMemory::throw_freed(const char *function) const {
    detail::throw_use_of_freed(function,
                               detail::describe_memory("pooled memory", address_, bytes_));
}

MemoryPool::MemoryPool(std::shared_ptr<detail::BlockPool> pool) noexcept : pool_(std::move(pool)) {}

MemoryPool MemoryPool::device() {
    return MemoryPool(
        std::make_shared<detail::BlockPool>(device_source, 0, Context::require_current()));
}

MemoryPool MemoryPool::pinned(unsigned flags) {
    return MemoryPool(
        std::make_shared<detail::BlockPool>(pinned_source, flags, Context::require_current()));
}

PooledMemory MemoryPool::allocate(std::size_t bytes) {
    PooledMemory memory(pool_, pool_->allocate(bytes), bytes);
    if (pool_->is_marking()) [[unlikely]]
        detail::note_allocation(memory.get()); // may throw the exception of a signal handler
    return memory;
}

PoolStatistics MemoryPool::statistics() const noexcept { return pool_->statistics(); }

const Context &MemoryPool::context() const noexcept { return pool_->context(); }

void MemoryPool::free_held() { pool_->free_held(); }

void MemoryPool::move_held_to(MemoryPool &heir) { pool_->move_held_to(*heir.pool_); }

void MemoryPool::stop_holding() { pool_->stop_holding(); }

void MemoryPool::on_out_of_memory(std::function<void()> reclaim) {
    pool_->reclaim = std::move(reclaim);
}

} // namespace pycuda
