// default_stream.h -- which stream a handle means in the call that is being made.
#pragma once

#include "api/call.h"
#include "device/context.h"
#include "device/stream.h"

#include <memory>

namespace softcuda::api {

/// While one exists, a null stream of the calling thread's driver calls is its per-thread stream.
class PerThreadDefaultStream {
  public:
    PerThreadDefaultStream() noexcept { depth_++; }
    PerThreadDefaultStream(const PerThreadDefaultStream &) = delete;
    ~PerThreadDefaultStream() { depth_--; }

    [[nodiscard]] static bool active() noexcept { return depth_ > 0; }

  private:
    static inline thread_local int depth_ = 0;
};

/// The stream behind a handle: a default stream of `context`, or any that the client made. Throws
/// Error(invalid handle).
std::shared_ptr<device::Stream> find_stream(device::Context &context, CUstream handle);

/// While one exists, and where the calling thread has no current context, the context of a stream
/// that the client made is current: calls about such a stream need no current context in CUDA.
class ContextOfStream {
  public:
    explicit ContextOfStream(CUstream handle);
    ContextOfStream(const ContextOfStream &) = delete;
    ~ContextOfStream();

  private:
    bool pushed_ = false;
};

/// A call about a stream: body(context), where the context is the current one, or the stream's.
template <class Body> CUresult with_context_of(CUstream stream, Body &&body) noexcept {
    return guarded([&] {
        const ContextOfStream current(stream);
        return with_context(std::forward<Body>(body));
    });
}

} // namespace softcuda::api
