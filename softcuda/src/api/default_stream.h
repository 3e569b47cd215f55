// default_stream.h -- which stream a null handle means in the call that is being made.
#pragma once

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

} // namespace softcuda::api
