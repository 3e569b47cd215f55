// schedule.h -- the order in which one warp goes through the blocks of a function.
//
// A warp runs a block once for all of its lanes that come there. After a uniform branch it can
// really jump; after a divergent one it must visit both sides in turn, each under a mask:
//
//          a                 a          a: branch on x, divergent
//         / \                |
//        b   c     becomes   b   (under mask x, skipped if no lane is there)
//         \ /                |
//          d                 c   (under mask not x, likewise)
//                            |
//                            d   (under a's mask)
//
// The blocks of a loop stay together, and a lane that leaves a loop waits until the others have
// left. What is still to be visited at a block is its list of *pending* blocks; the warp always
// goes on with the first of them in a fixed topological order. (After Moll and Hack, "Partial
// Control-Flow Linearization", PLDI 2018, except that pending targets may be skipped when no lane
// waits there.)
#pragma once

#include "analysis/shape.h"
#include "ir/ir.h"

#include <optional>
#include <vector>

namespace softcuda::transform {

/// What happens on the way into and out of one block.
struct BlockPlan {
    /// The block, at most this one's dominator, whose lanes are exactly this block's lanes too; the
    /// block itself where the mask has to be built from the edges that lead here.
    const ir::Block *mask_owner = nullptr;
    bool guarded =
        false; ///< the warp may arrive with no lane: test, and go to the next pending block
    bool waited =
        false; ///< lanes may wait here while others run: phis and mask keep what they have
    std::vector<const ir::Block *> pending; ///< still to be visited when the warp arrives, in order
    /// Where the warp goes when its lanes take successor i; for a divergent branch all are equal.
    /// Null: the end of the kernel.
    std::vector<const ir::Block *> next;
    /// The last block that a warp certainly visited before this one, whatever way it went; null for
    /// the entry.
    const ir::Block *dominator = nullptr;
};

struct Schedule {
    std::vector<const ir::Block *> order; ///< topological; each loop's blocks lie together
    std::vector<BlockPlan> plans;         ///< by Block::id
    /// A barrier that some lanes of a warp may not reach when others do, if there is one.
    const ir::Instruction *divergent_barrier = nullptr;
    /// One at which they wait for those others, which may be on the way to a barrier, too.
    const ir::Instruction *parted_barrier = nullptr;

    [[nodiscard]] const BlockPlan &of(const ir::Block *block) const { return plans[block->id]; }
    /// True if a warp that visits `block` has visited `earlier`. This is dominance among the ways
    /// of warps: a warp may come to a block on which lanes wait without having sent any there.
    [[nodiscard]] bool always_visits(const ir::Block *earlier, const ir::Block *block) const;
};

/// Plans a prepared function (prepare.h).
[[nodiscard]] Schedule plan_schedule(const ir::Function &function,
                                     const analysis::Divergence &divergence,
                                     const analysis::LoopForest &loops,
                                     const analysis::DominatorTree &dominators,
                                     const analysis::DominatorTree &post_dominators);

/// True for a block that does nothing but end the thread.
[[nodiscard]] bool only_exits(const ir::Block *block);

} // namespace softcuda::transform
