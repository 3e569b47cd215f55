// default_stream.h -- the stream of a null handle in the current call.
#pragma once

#include <cuda_runtime_api.h>

namespace softcudart {

/// In the scope of this object, a null stream in the calling thread's calls is its per-thread
/// stream.
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

/// The stream for the driver's plain functions.
inline cudaStream_t stream_of(cudaStream_t stream) noexcept {
    return stream == nullptr && PerThreadDefaultStream::active() ? cudaStreamPerThread : stream;
}

} // namespace softcudart
