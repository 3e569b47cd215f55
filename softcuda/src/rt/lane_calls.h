// lane_calls.h -- lanes of a warp that call a function one by one, each on a stack of its own.
//
// A called function is usually run for all calling lanes together, on the stack of their warp, and
// the other lanes of the caller pause until it returns. If the function may wait for one of these,
// this would be a deadlock. So the lanes of such a call leave the frame of the kernel, and each of
// them runs the function, and all that this calls, by itself:
//
//     kernel's stack    lanes 4 to 31: waits, writes, exchanges, places of lane_scheduler.cpp
//     stack of lane 0   walk(5) -> walk(4) -> while (ld.volatile [flag] == 0);
//     stack of lane 1   walk(2) -> __shfl_sync(~0, ...)
//     ...
//
// All of them run on one thread, in turn. A lane that yields, that waits for its members or at a
// barrier, *rests*, and the kernel's stack runs. There, the scheduler lets the other lanes run,
// computes exchanges whose members have all come, in whichever function they are, and yields to
// other warps when each lane has had its turn. A lane that returns continues in the kernel, while
// others are still in the function.
#pragma once

#include "rt/fiber.h"
#include "rt/lane_call_abi.h"
#include "rt/reserved_range.h"

#include <array>
#include <cstdint>
#include <memory>

namespace softcuda::rt {

class WarpScheduler;

class LaneCalls {
  public:
    /// Null if there are no addresses. The stacks use memory from their first use on.
    static std::unique_ptr<LaneCalls> make(std::uint64_t stack_bytes, std::uint64_t guard);
    LaneCalls(const LaneCalls &) = delete;
    LaneCalls &operator=(const LaneCalls &) = delete;

    [[nodiscard]] std::uint64_t stack_bytes() const noexcept { return stack_bytes_; }
    /// Abandons all calls.
    void forget() noexcept;

    // For the kernel's stack:
    /// Begins the call for the lanes in `mask`, which run with the next run(). False if memory runs
    /// out.
    [[nodiscard]] bool start(WarpScheduler &scheduler, LaneState &kernel, WorkerState *worker,
                             const LaneCall &call, std::uint32_t mask) noexcept;
    /// The lanes that are in calls.
    [[nodiscard]] std::uint32_t live() const noexcept { return live_; }
    /// Those that wait for their members, and those that wait at a barrier.
    [[nodiscard]] std::uint32_t at_exchange() const noexcept { return at_exchange_; }
    [[nodiscard]] std::uint32_t at_barrier() const noexcept { return at_barrier_; }
    /// The lanes that have yielded and have not run since.
    [[nodiscard]] std::uint32_t resting() const noexcept { return resting_; }
    /// The exchange at which a lane waits: an entry of LaneState::exchanges.
    [[nodiscard]] const std::uint8_t *exchange_of(std::size_t lane) const noexcept {
        return lanes_[lane].exchange;
    }
    /// Whether any lane can run.
    [[nodiscard]] bool can_run() const noexcept { return ready() != 0; }
    /// Ends the waits of lanes.
    void release(std::uint32_t lanes) noexcept {
        at_exchange_ &= ~lanes;
        at_barrier_ &= ~lanes;
    }
    /// Lets the lanes run again that have yielded.
    void wake() noexcept { resting_ = 0; }
    /// Runs each lane that can run, until it rests. A lane may end, or return to the kernel.
    void run();

    // For the running lane, whose innermost frame is `frame`:
    /// Waits for its members at `place` of the frame, and receives the result of the exchange.
    void exchange(LaneState &frame, std::uint32_t place);
    /// Waits until the lane may arrive at the barrier, or has arrived with other lanes.
    void reach_barrier(const LaneState &frame);
    [[nodiscard]] LaneState &kernel() noexcept { return *kernel_; }

  private:
    struct Lane {
        Fiber fiber;
        LaneCalls *calls = nullptr;
        LaneCall call{};
        std::uint32_t number = 0;
        const std::uint8_t *exchange = nullptr;
        bool has_stack = false;
    };

    LaneCalls(std::uint64_t stack_bytes, std::uint64_t guard);
    [[nodiscard]] std::uint32_t ready() const noexcept {
        return live_ & ~resting_ & ~at_exchange_ & ~at_barrier_;
    }
    static void begin(void *lane);
    [[nodiscard]] bool open_stack(Lane &lane) noexcept;
    [[nodiscard]] std::byte *stack_of(const Lane &lane) const noexcept;

    std::uint64_t stack_bytes_, guard_;
    ReservedRange stacks_;
    WarpScheduler *scheduler_ = nullptr;
    WorkerState *worker_ = nullptr;
    LaneState *kernel_ = nullptr; ///< of the kernel's frame
    Lane *running_ = nullptr;
    std::uint32_t live_ = 0, resting_ = 0, at_exchange_ = 0, at_barrier_ = 0;
    std::array<Lane, kWarpSize> lanes_;
};

} // namespace softcuda::rt
