// copy.h -- copies that are queued in a stream, or complete when the call returns.
#pragma once

#include "copy_params.h"
#include "default_stream.h"

namespace softcudart {

/// The stream of a copy, and whether the call waits.
class Order {
  public:
    /// The default stream; the call waits.
    static Order waiting() noexcept { return Order(stream_of(nullptr), true); }
    static Order queued(cudaStream_t stream) noexcept { return Order(stream_of(stream), false); }

    /// Calls the driver's synchronous function, or the one with a stream. There is no synchronous
    /// function for a per-thread default stream, so the call then waits for the stream.
    template <class Waiting, class Queued> void run(Waiting waiting, Queued queued) const {
        if (waits_ && stream_ == nullptr)
            return check(waiting());
        check(queued(stream_));
        if (waits_)
            check(cuStreamSynchronize(stream_));
    }

  private:
    Order(cudaStream_t stream, bool waits) noexcept : stream_(stream), waits_(waits) {}

    cudaStream_t stream_;
    bool waits_;
};

/// Copies contiguous bytes. Throws Failure.
void copy_bytes(void *to, const void *from, std::size_t count, cudaMemcpyKind kind,
                const Order &order);

/// Throws Failure.
void copy_box(const CUDA_MEMCPY3D &copy, const Order &order);

} // namespace softcudart
