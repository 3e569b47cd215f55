// lane_plan.h -- the places of the tier lanes: parts of basic blocks that lanes run without a wait.
//
// In the tier lanes each lane has a program counter, the number of a place. The runtime chooses a
// place and lanes that have come there (rt/lane_scheduler.cpp), and the warp runs them to the
// place's end. Each basic block is one place, and a further one from each instruction at which
// lanes wait for other lanes: an exchange, or a barrier of the thread block.
//
//     0: a, 0 to 3                                the block's instructions 0, 1, 2
//       waits at 1 with i32 -1                    each lane leaves its members and its operands
//     1: a, 3 to 5, members, shuffle.index        all members have come: the result is there
//       edge b to place 2
//       edge c to place 3
//     2: b, 0 to 4
//
// Any other place may run between two places of a lane. So a value that lanes use at another place
// than they define it is in memory, of which each place changes the part of its lanes
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
    /// What lanes do that have met at PlaceKind::Members. Empty: the runtime cannot do it.
    std::optional<rt::Exchange> exchange = rt::Exchange::Meet;
    /// What each lane says of itself when it comes here to wait: its members, or the number of a
    /// barrier. Null: all lanes of the warp are members.
    const ir::Value *named = nullptr;
    /// Where the lanes go on: at the place behind this one in the basic block, or, from the last
    /// one, by each of the block's edges (mask_plan.h).
    std::vector<std::uint32_t> next;

    [[nodiscard]] std::span<ir::Instruction *const> instructions() const {
        return std::span<ir::Instruction *const>(block->instructions).subspan(first, end - first);
    }
    /// The instruction at which lanes wait here; null if the place starts without.
    [[nodiscard]] const ir::Instruction *awaited() const {
        return waits_for_lanes() ? block->instructions[first] : nullptr;
    }
    [[nodiscard]] bool waits_for_lanes() const {
        return kind == rt::PlaceKind::Members || kind == rt::PlaceKind::Barrier;
    }
    [[nodiscard]] bool ends_block() const { return end == block->instructions.size(); }
    /// The runtime has made the result of awaited() when the place runs. Lanes that have met at a
    /// matrix product compute it at their place.
    [[nodiscard]] bool receives() const {
        return kind == rt::PlaceKind::Members && exchange != rt::Exchange::Matrix;
    }
};

struct LanePlan {
    std::vector<Place> places;           ///< by number; empty in the other tiers
    std::vector<std::uint32_t> of_block; ///< by Block::id: its first place
};

/// What the runtime knows an exchange as. Empty where it knows none.
[[nodiscard]] std::optional<rt::Exchange> exchange_of(const ir::Instruction &exchange);

/// Plans the places in the tier lanes. Masks are planned.
void plan_lanes(KernelPlan &plan);

/// What is wrong with the places, one line each; empty if nothing is.
[[nodiscard]] std::vector<std::string> verify_lanes(const KernelPlan &plan);

[[nodiscard]] std::string print_lanes(const KernelPlan &plan);

} // namespace softcuda::warp
