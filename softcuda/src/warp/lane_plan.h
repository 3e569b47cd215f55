// lane_plan.h -- the places of the tier lanes: parts of basic blocks that lanes run without a wait.
//
// In the tier lanes, each lane has a program counter, which is the number of a place. The runtime
// chooses a place and lanes at this place (rt/lane_scheduler.cpp), and the warp runs these lanes to
// the place's end. Each basic block is one place. Another place begins at each instruction at which
// lanes wait for other lanes: an exchange, or a barrier of the thread block. It also begins after
// each preemption point (transform/find_waits.h).
//
//     0: a, 0 to 3                                the basic block's instructions 0, 1, 2
//       waits at 1 with i32 -1                    each lane stores its members and its operands
//     1: a, 3 to 5, members, shuffle.index        all members have arrived: the result is available
//       edge b to place 2
//       edge c to place 3
//     2: b, 0 to 4
//
// Other places may run between two places of a lane. So a value that lanes use at another place
// than the defining place is in memory, and each place changes only the part of its lanes
// (KernelPlan::outlives_block). Code generation emits the plan place by place.
#pragma once

#include "ir/ir.h"
#include "rt/kernel_abi.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace softcuda::warp {

struct KernelPlan;

struct Place {
    const ir::Block *block = nullptr;
    std::uint32_t first = 0, end = 0; ///< instructions of the basic block
    rt::PlaceKind kind = rt::PlaceKind::Plain;
    /// The operation of lanes that have met at PlaceKind::Members. Empty: the runtime does not
    /// support it.
    std::optional<rt::Exchange> exchange = rt::Exchange::Meet;
    /// The number of the preemption point that the place follows. At the header of a loop that
    /// waits: the highest number in this loop.
    std::uint32_t point = 0;
    /// The value that each lane stores when it waits here: its members, or the number of a barrier.
    /// Null: all lanes of the warp are members.
    const ir::Value *named = nullptr;
    /// The next places of the lanes: the place after this one in the basic block or, after the last
    /// one, a place for each of the block's edges (mask_plan.h).
    std::vector<std::uint32_t> next;

    [[nodiscard]] std::span<ir::Instruction *const> instructions() const {
        return std::span<ir::Instruction *const>(block->instructions).subspan(first, end - first);
    }
    /// The instruction at which lanes wait here, or a call that they make one by one; null if the
    /// place starts without a wait.
    [[nodiscard]] const ir::Instruction *awaited() const {
        return waits_for_lanes() || is_call() ? block->instructions[first] : nullptr;
    }
    /// Whether each lane comes here when it returns from a call that it made by itself.
    [[nodiscard]] bool is_call() const { return kind == rt::PlaceKind::Call; }
    [[nodiscard]] bool waits_for_lanes() const {
        return kind == rt::PlaceKind::Members || kind == rt::PlaceKind::Barrier;
    }
    [[nodiscard]] bool ends_block() const { return end == block->instructions.size(); }
    /// Whether the result of awaited() exists when the place runs: of an exchange or of a call.
    /// Lanes that have met at a matrix product compute it in their place.
    [[nodiscard]] bool receives() const {
        return is_call() || (kind == rt::PlaceKind::Members && exchange != rt::Exchange::Matrix);
    }
};

struct LanePlan {
    std::vector<Place> places;           ///< by number; empty in the other tiers
    std::vector<std::uint32_t> of_block; ///< by Block::id: its first place
};

/// The runtime's number of an exchange. Empty if the runtime does not support it.
[[nodiscard]] std::optional<rt::Exchange> exchange_of(const ir::Instruction &exchange);

/// Plans the places in the tier lanes. Masks must be planned.
void plan_lanes(KernelPlan &plan);

/// The errors in the places, one line each; empty if there are none.
[[nodiscard]] std::vector<std::string> verify_lanes(const KernelPlan &plan);

[[nodiscard]] std::string print_lanes(const KernelPlan &plan);

} // namespace softcuda::warp
