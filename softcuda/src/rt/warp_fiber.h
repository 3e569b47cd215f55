// warp_fiber.h -- one warp of a resident block, and queues of them.
#pragma once

#include "rt/fiber.h"

#include <cstdint>
#include <memory>

namespace softcuda::rt {

class LaneCalls;
class ResidentBlock;

/// One warp of a resident block.
struct WarpFiber {
    WarpFiber();
    WarpFiber(const WarpFiber &) = delete;
    ~WarpFiber();

    Fiber fiber;
    /// The stack on which the warp runs or continues: its own, or that of one of its lanes.
    Fiber *running = &fiber;
    std::unique_ptr<LaneCalls> calls; ///< null until lanes call a function one by one
    ResidentBlock *block = nullptr;
    std::uint32_t warp = 0;
    std::uint32_t result = 0;        ///< of the last barrier
    std::uint64_t cluster_phase = 0; ///< the phase of the cluster's barrier at the last arrival
    bool arrived_at_cluster = false; ///< arrived there, and has not waited since
    WarpFiber *next = nullptr; ///< the next warp in the queue of runnable warps, or of warps that
                               ///< wait at one barrier
};

/// A queue of warps, linked through WarpFiber::next.
class WarpQueue {
  public:
    [[nodiscard]] bool empty() const noexcept { return !first_; }
    void push(WarpFiber &warp) noexcept {
        warp.next = nullptr;
        (first_ ? last_->next : first_) = &warp;
        last_ = &warp;
    }
    WarpFiber &pop() noexcept {
        WarpFiber &warp = *first_;
        first_ = warp.next;
        return warp;
    }
    void clear() noexcept { first_ = nullptr; }

  private:
    WarpFiber *first_ = nullptr, *last_ = nullptr;
};

} // namespace softcuda::rt
