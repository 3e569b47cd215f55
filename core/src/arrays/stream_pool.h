// stream_pool.h -- a pool of memory that is allocated and freed in the order of one stream.
#pragma once

#include <pycuda/caller_lock.h>
#include <pycuda/context.h>
#include <pycuda/event.h>
#include <pycuda/memory_pool.h>

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pycuda::detail {

/// Makes `stream` wait for events. A failure means that the context is unusable, so the memory is
/// not used any more.
void wait_for_uses(const Context &context, CUstream stream,
                   std::span<const StreamUse> uses) noexcept;

/// The pool of a stream other than the default stream. A returned block is kept for the stream's
/// next array. A pool of a capture is for the work that the capture records in the stream. Any
/// thread may call.
class StreamPool {
  public:
    /// `capture`: the number of a capture, or 0.
    StreamPool(CUstream stream, const Context &context, std::uint64_t capture = 0);

    CUstream stream() const noexcept { return stream_; }
    std::uint64_t capture() const noexcept { return capture_; }

    PooledMemory allocate(std::size_t bytes);
    MemoryPool &memory() noexcept { return memory_; }

    /// Returns a block to the pool. The stream first waits for the uses of the block in other
    /// streams.
    void take_back(PooledMemory block, std::span<const StreamUse> uses) noexcept;
    /// Of a pool of a capture: keeps a block that work outside of this stream uses, so that no
    /// other array gets the block.
    void retire(PooledMemory block) noexcept;

    /// Call it before the stream is destroyed. The pool then waits for the work of the stream, and
    /// for its heir.
    void end() noexcept;
    bool ended() const noexcept { return ended_.load(std::memory_order_relaxed); }
    /// Moves the free blocks of a pool that has ended to the pool of a new stream, and returns
    /// true, if no work uses them any more. Blocks that are returned later are freed.
    bool give_to(StreamPool &heir) noexcept;
    bool empty() const noexcept;
    /// Call it when no launch of the capture's graph can use the memory any more. Returns the
    /// blocks to the driver, now or when their arrays end.
    void end_capture() noexcept;

  private:
    const CUstream stream_;
    const std::uint64_t capture_;
    const Context context_;
    MemoryPool memory_;
    CallerMutex mutex_; ///< locked while the stream must not be destroyed
    std::atomic<bool> ended_{false};
    bool holds_ = true;
    std::vector<StreamUse> last_; ///< all work that uses the free blocks of a pool that has ended
    std::vector<PooledMemory> retired_;
    std::size_t allocated_ = 0; ///< blocks of a capture's pool: retired_ never needs more memory
};

} // namespace pycuda::detail
