// schedule.h -- the order in which one warp runs the basic blocks of a function.
//
// A warp runs a basic block once for all of its lanes that reach it. After a uniform branch the
// warp jumps. After a divergent branch it runs both sides in turn, each with a mask:
//
//          a                 a          a: branch on x, divergent
//         / \                |
//        b   c     becomes   b   (under mask x, skipped if no lane is there)
//         \ /                |
//          d                 c   (under mask not x, likewise)
//                            |
//                            d   (under a's mask)
//
// The blocks of a loop are consecutive, and a lane that leaves a loop waits until the others have
// left. The basic blocks that the warp must still visit are the *pending* blocks. The warp always
// continues with the first of them in a fixed topological order. (After Moll and Hack, "Partial
// Control-Flow Linearization", PLDI 2018, except that pending targets may be skipped if no lane
// waits there.)
#pragma once

#include "analysis/shape.h"
#include "ir/ir.h"

#include <optional>
#include <vector>

namespace softcuda::transform {

/// The entry into and the exit from one basic block.
struct BlockPlan {
    /// The earliest dominator that has exactly the lanes of this basic block; the block itself if
    /// its mask must be built from the incoming edges.
    const ir::Block *mask_owner = nullptr;
    bool guarded = false; ///< the warp may arrive without lanes: tests this, and continues at the
                          ///< next pending block
    bool waited = false;  ///< lanes may wait here while others run: phis and mask are only updated
    std::vector<const ir::Block *> pending; ///< pending when the warp arrives, in order
    /// The next basic block of the warp if its lanes take successor i; for a divergent branch all
    /// are equal. Null: the end of the kernel.
    std::vector<const ir::Block *> next;
    /// The last basic block that a warp always visits before this one, on every path; null for the
    /// entry.
    const ir::Block *dominator = nullptr;
};

struct Schedule {
    std::vector<const ir::Block *> order; ///< topological; the blocks of each loop are consecutive
    std::vector<BlockPlan> plans;         ///< by Block::id
    /// A barrier that some lanes of a warp may not reach when others do, if there is one.
    const ir::Instruction *divergent_barrier = nullptr;
    /// A barrier at which lanes wait for other lanes, which may be before a barrier, too.
    const ir::Instruction *split_barrier = nullptr;

    [[nodiscard]] const BlockPlan &of(const ir::Block *block) const { return plans[block->id]; }
    /// True if a warp that visits `block` has visited `earlier`. This is dominance among the paths
    /// of warps: a warp may visit a basic block at which lanes wait without sending lanes there.
    [[nodiscard]] bool always_visits(const ir::Block *earlier, const ir::Block *block) const;
};

/// Plans a prepared function (prepare.h).
[[nodiscard]] Schedule plan_schedule(const ir::Function &function,
                                     const analysis::Divergence &divergence,
                                     const analysis::LoopForest &loops,
                                     const analysis::DominatorTree &dominators,
                                     const analysis::DominatorTree &post_dominators);

/// True for a block that only ends the thread.
[[nodiscard]] bool only_exits(const ir::Block *block);

} // namespace softcuda::transform
