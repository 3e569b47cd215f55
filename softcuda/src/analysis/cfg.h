// cfg.h -- the loops of a function.
//
// All results are indexed by Block::id, which must be dense (Function::renumber).
#pragma once

#include "ir/dominators.h"
#include "ir/ir.h"

#include <cstdint>
#include <span>
#include <vector>

namespace softcuda::analysis {

using ir::DominatorTree;

/// A natural loop. Loops are numbered so that an outer loop precedes its inner loops.
struct Loop {
    ir::Block *header = nullptr;
    int parent = -1; ///< index of the enclosing loop, -1 at top level
    std::vector<ir::Block *> blocks;
    std::vector<ir::Block *> latches; ///< sources of its back edges
    std::vector<ir::Block *>
        exits; ///< blocks outside the loop that are targets of an edge from inside
};

class LoopForest {
  public:
    LoopForest() = default; ///< empty, for a later assignment
    LoopForest(const ir::Function &function, const DominatorTree &dominators);

    /// False if some cycle has another entry than its header.
    [[nodiscard]] bool reducible() const { return reducible_; }
    [[nodiscard]] const std::vector<Loop> &loops() const { return loops_; }
    /// Index of the innermost loop around the block, or -1.
    [[nodiscard]] int innermost(const ir::Block *block) const { return innermost_[block->id]; }
    [[nodiscard]] bool contains(int loop, const ir::Block *block) const;
    /// True for an edge from inside a loop to its header.
    [[nodiscard]] bool back_edge(const ir::Block *from, const ir::Block *to) const;
    /// True if a path from one of `starts` repeats the loop, or an outer loop, before it reaches
    /// `end`.
    [[nodiscard]] bool may_repeat_loop(int loop, std::span<ir::Block *const> starts,
                                       const ir::Block *end) const;

  private:
    std::vector<Loop> loops_;
    std::vector<int> innermost_;
    bool reducible_ = true;
};

} // namespace softcuda::analysis
