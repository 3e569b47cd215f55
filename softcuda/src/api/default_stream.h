// default_stream.h -- which stream a handle means in the call that is being made.
#pragma once

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

} // namespace softcuda::api
