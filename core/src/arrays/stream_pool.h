// stream_pool.h -- memory that is handed out and taken back in the order of one stream.
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

/// Makes `stream` wait for events. A failure means that the context is broken, and with it the use.
void wait_for_uses(const Context &context, CUstream stream,
                   std::span<const std::shared_ptr<Event>> uses) noexcept;

/// The memory whose home is a stream other than the default one. A block that is given back waits
/// here for the stream's next array. Any thread may call.
class StreamPool {
  public:
    StreamPool(CUstream stream, const Context &context);

    CUstream stream() const noexcept { return stream_; }
    MemoryPool &memory() noexcept { return memory_; }

    /// Takes a block back, whose uses in other streams the stream is made to wait for.
    void take_back(PooledMemory block, std::span<const std::shared_ptr<Event>> uses) noexcept;

    /// To be called before the stream is destroyed. The blocks that wait here go to `heir`, the
    /// pool of the default stream, which is made to wait for the stream. Blocks that come back
    /// later are freed once the stream's work is done.
    void end(MemoryPool &heir) noexcept;

  private:
    const CUstream stream_;
    const Context context_;
    MemoryPool memory_;
    std::mutex mutex_; ///< held while the stream must not end
    bool ended_ = false;
    std::optional<Event> last_; ///< behind the work of a stream that has ended
};

} // namespace pycuda::detail
