// busy_time.h -- for how long kernels of a device have run.
#pragma once

#include <atomic>
#include <cstdint>

namespace softcuda::rt {

/// The time in which at least one thread ran blocks. Guarded by the pool's mutex, except add().
/// Nanoseconds.
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
    /// A grid so short that its time is known better than it can be measured. Any thread may call.
    /// Of two calls at the same time, one may be lost, because these grids ran at the same time.
    void add(std::uint64_t nanoseconds) noexcept {
        if (running_.load(std::memory_order_relaxed) == 0)
            short_grids_.store(short_grids_.load(std::memory_order_relaxed) + nanoseconds,
                               std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t total(std::uint64_t now) const noexcept {
        const std::uint64_t total = total_ + short_grids_.load(std::memory_order_relaxed);
        return running_ == 0 ? total : total + (now - since_);
    }

  private:
    std::uint64_t total_ = 0, since_ = 0;
    std::atomic<std::uint64_t> short_grids_{0};
    std::atomic<unsigned> running_{0}; ///< threads
};

} // namespace softcuda::rt
