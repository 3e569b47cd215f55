// stream_pool.h -- a pool of memory that is allocated and freed in the order of one stream.
#pragma once

#include <pycuda/context.h>
#include <pycuda/event.h>
#include <pycuda/memory_pool.h>

#include <cuda.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>

namespace pycuda::detail {

/// Makes `stream` wait for events. A failure means that the context is unusable, so the memory is
/// not used any more.
void wait_for_uses(const Context &context, CUstream stream,
                   std::span<const std::shared_ptr<Event>> uses) noexcept;

/// The pool of a stream other than the default stream. A returned block is kept for the stream's
/// next array. Any thread may call.
class StreamPool {
  public:
    StreamPool(CUstream stream, const Context &context);

    CUstream stream() const noexcept { return stream_; }
    MemoryPool &memory() noexcept { return memory_; }

    /// Returns a block to the pool. The stream first waits for the uses of the block in other
    /// streams.
    void take_back(PooledMemory block, std::span<const std::shared_ptr<Event>> uses) noexcept;

    /// Call it before the stream is destroyed. Moves the free blocks to `heir`, the pool of the
    /// default stream, which first waits for the stream. Blocks that are returned later are freed
    /// when the stream's work is done.
    void end(MemoryPool &heir) noexcept;

  private:
    const CUstream stream_;
    const Context context_;
    MemoryPool memory_;
    std::mutex mutex_; ///< locked while the stream must not be destroyed
    bool ended_ = false;
    std::optional<Event> last_; ///< recorded after the last work of a stream that was destroyed
};

} // namespace pycuda::detail
