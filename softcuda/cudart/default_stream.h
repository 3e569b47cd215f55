// default_stream.h -- which stream a null handle means in the call that is being made.
#pragma once

#include <cuda_runtime_api.h>

namespace softcudart {

/// While one exists, a null stream in the calling thread's calls is its per-thread stream.
class PerThreadDefaultStream {
  public:
    PerThreadDefaultStream() noexcept { depth_++; }
    PerThreadDefaultStream(const PerThreadDefaultStream &) = delete;
    PerThreadDefaultStream &operator=(const PerThreadDefaultStream &) = delete;
    ~PerThreadDefaultStream() { depth_--; }

    [[nodiscard]] static bool active() noexcept { return depth_ > 0; }

  private:
    static inline thread_local int depth_ = 0;
};

/// The stream as the driver's plain functions take it.
inline cudaStream_t stream_of(cudaStream_t stream) noexcept {
    return stream == nullptr && PerThreadDefaultStream::active() ? cudaStreamPerThread : stream;
}

} // namespace softcudart
