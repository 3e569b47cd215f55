// mask_plan.h -- the lanes that run each basic block, and the blended values where control flow
// joins.
//
// A warp runs the basic blocks in the order of transform/schedule.h. This plan describes the
// changes of masks and values. Code generation emits the plan line by line.
//
//     a:  mask active                        all lanes of the warp
//         starts c                           no lane waits at c yet: its arrivals are cleared
//         edge b: condition                  the lanes of a whose condition is true ...
//         edge c: not condition, next b      ... and the others; then the warp visits b
//     b:  mask arrivals, skip to c           the lanes that arrived; if none, continues at c
//         starts d
//         edge d: all, add, next c           they wait at d, together with earlier arrivals
//     c:  mask arrivals, skip to d
//         edge d: all, add
//         %x: blend %v                       changes only these lanes' part of %x
//     d:  mask of a                          all lanes of a are here again: nothing is computed
//
// An undefined operand of a join is never written: its edge does not change the phi, whose initial
// value is zero.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::warp {

struct KernelPlan;

/// Lanes as bits, for each warp of the thread block; empty: unknown.
using LanesByWarp = std::vector<std::uint32_t>;

/// The lanes that run a basic block.
struct BlockMask {
    enum class From : std::uint8_t {
        Active,   ///< all lanes of the warp
        Known,    ///< the active ones in `lanes`, equal in all warps
        Owner,    ///< those of the block `owner`
        Arrivals, ///< those that arrived through edges
    };
    From from = From::Arrivals;
    const ir::Block *owner = nullptr;
    /// The lanes that reach this basic block, if only the thread's index decides it. Code for a
    /// single warp then needs no arrivals.
    LanesByWarp lanes;
    /// Lanes may wait here while the warp is elsewhere: the arrivals add up.
    bool collects = false;
    /// The arrivals are cleared, because the warp may come here again before it visits the basic
    /// block that starts them.
    bool clears = false;
    /// The warp may reach this basic block with an empty mask. It then continues at `skip_to`.
    bool guarded = false;
    const ir::Block *skip_to = nullptr; ///< null: the end of the function
};

/// The change of a phi on an edge.
struct Join {
    enum class Write : std::uint8_t {
        Set,   ///< replaces the phi's value
        Blend, ///< replaces the value in the edge's lanes
        Keep,  ///< the value is undefined: nothing is written
    };
    const ir::Value *phi = nullptr, *value = nullptr;
    Write write = Write::Set;
};

/// An edge from a basic block to another one. Equal successors share one edge.
struct Edge {
    /// The change of the target's arrivals.
    enum class Arrive : std::uint8_t { Nothing, Set, Add };
    const ir::Block *to = nullptr;
    /// The indices of its successors. Each successor has the lanes that branch to it. If the lanes
    /// do not diverge, all lanes of the basic block take the edge.
    std::vector<unsigned> successors;
    Arrive arrive = Arrive::Nothing;
    std::vector<Join> joins; ///< all joins of a block are read before any is written
    /// The next basic block after the edge, if lanes do not diverge; null: the end of the function.
    const ir::Block *next = nullptr;
};

struct BlockFlow {
    BlockMask mask;
    bool parts = false; ///< lanes may take different edges
    std::vector<Edge> edges;
    /// Basic blocks at which no lane waits when the warp comes here, and which it visits only after
    /// this one. Their arrivals start from none here, and their phis from zero where starts_zero
    /// says so. Thus neither is live longer than lanes may wait.
    std::vector<const ir::Block *> starts;
    /// The next basic block after a divergent branch, or if there is no edge.
    const ir::Block *next = nullptr;
};

struct MaskPlan {
    std::vector<BlockFlow> blocks; ///< by Block::id
    std::map<const ir::Value *, LanesByWarp>
        known; ///< conditions that depend only on the thread's index
    /// By Value::id: a phi that some lane may read or copy before an edge has set it. An unset
    /// value is undefined for LLVM: each use could see another number.
    std::vector<bool> starts_zero;
    /// Lanes run independently (the tier lanes): values that are defined while other lanes are at
    /// another place are blended as well, and the runtime provides the masks.
    bool independent_lanes = false;

    [[nodiscard]] const BlockFlow &of(const ir::Block *block) const { return blocks[block->id]; }
    /// True for a basic block whose mask is stored for other basic blocks or regions.
    [[nodiscard]] bool keeps_mask(const ir::Block *block) const {
        return of(block).mask.from == BlockMask::From::Arrivals;
    }
};

/// The lanes in every warp, if they are known and equal.
[[nodiscard]] std::optional<std::uint32_t> in_all_warps(const LanesByWarp &lanes);

/// Plans masks and joins. The analyses up to `regions` must have run.
void plan_masks(KernelPlan &plan);

/// The errors in a plan, one line each; empty if there are none.
[[nodiscard]] std::vector<std::string> verify_masks(const KernelPlan &plan);

/// `arrivals, skip to c`, `mask of a`, `lanes 0x0000ffff`, `arrivals, lanes by warp 0x00000007
/// 0x00000000`.
[[nodiscard]] std::string to_text(const BlockMask &mask);
[[nodiscard]] std::string print_masks(const KernelPlan &plan);

} // namespace softcuda::warp
