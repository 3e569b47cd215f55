// busy_time.h -- for how long kernels of a device have run.
#pragma once

#include <cstdint>

namespace softcuda::rt {

/// The time in which at least one thread ran blocks. Guarded by the pool's mutex. Nanoseconds.
class BusyTime {
  public:
    void begin(std::uint64_t now) noexcept {
        if (running_++ == 0)
            since_ = now;
    }
    void end(std::uint64_t now) noexcept {
        if (--running_ == 0)
            total_ += now - since_;
    }
    /// A grid so short that its time is known better than it can be measured.
    void add(std::uint64_t nanoseconds) noexcept {
        if (running_ == 0)
            total_ += nanoseconds;
    }
    [[nodiscard]] std::uint64_t total(std::uint64_t now) const noexcept {
        return running_ == 0 ? total_ : total_ + (now - since_);
    }

  private:
    std::uint64_t total_ = 0, since_ = 0;
    unsigned running_ = 0; ///< threads
};

} // namespace softcuda::rt
