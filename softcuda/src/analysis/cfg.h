// cfg.h -- the shape of a function's control flow: order, dominators, loops.
//
// Everything is indexed by Block::id, which must be dense (Function::renumber).
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <vector>

namespace softcuda::analysis {

/// Reverse post-order of the blocks reachable from the entry.
[[nodiscard]] std::vector<ir::Block *> reverse_post_order(const ir::Function &function);

/// Immediate dominators, or post-dominators over a virtual end that all exits lead to.
class DominatorTree {
  public:
    enum class Direction { Forward, Backward };
    DominatorTree(const ir::Function &function, Direction direction);

    /// Null for the root: the entry, or a block whose only post-dominator is the virtual end.
    [[nodiscard]] ir::Block *parent(const ir::Block *block) const { return parent_[block->id]; }
    /// True if `a` (post-)dominates `b`; a block does so itself.
    [[nodiscard]] bool dominates(const ir::Block *a, const ir::Block *b) const;

  private:
    std::vector<ir::Block *> parent_;
    std::vector<std::uint32_t> depth_;
};

/// A natural loop. Loops are numbered so that an outer loop comes before those inside it.
struct Loop {
    ir::Block *header = nullptr;
    int parent = -1; ///< index of the enclosing loop, -1 at top level
    std::vector<ir::Block *> blocks;
    std::vector<ir::Block *> latches; ///< sources of its back edges
    std::vector<ir::Block *> exits;   ///< blocks outside that an edge from inside leads to
};

class LoopForest {
  public:
    LoopForest(const ir::Function &function, const DominatorTree &dominators);

    /// False when some cycle is entered other than through its header.
    [[nodiscard]] bool reducible() const { return reducible_; }
    [[nodiscard]] const std::vector<Loop> &loops() const { return loops_; }
    /// Index of the innermost loop around the block, or -1.
    [[nodiscard]] int innermost(const ir::Block *block) const { return innermost_[block->id]; }
    [[nodiscard]] bool contains(int loop, const ir::Block *block) const;
    /// True for an edge from inside a loop to its header.
    [[nodiscard]] bool back_edge(const ir::Block *from, const ir::Block *to) const;

  private:
    std::vector<Loop> loops_;
    std::vector<int> innermost_;
    bool reducible_ = true;
};

} // namespace softcuda::analysis
