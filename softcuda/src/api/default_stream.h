// default_stream.h -- the stream of a handle in the current call.
#pragma once

#include "api/call.h"
#include "device/context.h"
#include "device/process_state.h"
#include "device/stream.h"

#include <memory>

namespace softcuda::api {

/// In the scope of this object, the null stream in driver calls of the calling thread is the
/// per-thread stream.
class PerThreadDefaultStream {
  public:
    PerThreadDefaultStream() noexcept { depth_++; }
    PerThreadDefaultStream(const PerThreadDefaultStream &) = delete;
    ~PerThreadDefaultStream() { depth_--; }

    [[nodiscard]] static bool active() noexcept { return depth_ > 0; }

  private:
    static inline thread_local int depth_ = 0;
};

/// The stream of a handle: a default stream of `context`, or a stream that the client created.
/// Throws Error(invalid handle).
std::shared_ptr<device::Stream> find_stream(device::Context &context, CUstream handle);

/// In the scope of this object, if the calling thread has no current context, the context of a
/// stream that the client created is current: calls with such a stream need no current context in
/// CUDA.
class ContextOfStream {
  public:
    explicit ContextOfStream(CUstream handle);
    ContextOfStream(const ContextOfStream &) = delete;
    ~ContextOfStream();

  private:
    bool pushed_ = false;
};

/// A call with a stream: body(context), with the current context or the stream's context. Permitted
/// in host functions for streams that the client created.
template <class Body> CUresult with_context_of(CUstream stream, Body &&body) noexcept {
    return guarded([&] {
        const ContextOfStream current(stream);
        device::System::get();
        device::ProcessState::wait_until_running();
        return body(device::current_context::require_usable());
    });
}

/// As above, but not permitted in host functions.
template <class Body> CUresult outside_host_function(CUstream stream, Body &&body) noexcept {
    return guarded([&] {
        device::refuse_in_host_function();
        return with_context_of(stream, std::forward<Body>(body));
    });
}

} // namespace softcuda::api
