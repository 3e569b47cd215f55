// dominators.h -- which blocks every way to a block, or from it to the end, passes through.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <vector>

namespace softcuda::ir {

/// Blocks reachable from the entry, each before its successors but for back edges.
[[nodiscard]] std::vector<Block *> reverse_postorder(const Function &function);

/// Immediate dominators, or post-dominators over a virtual end that all exits lead to. Blocks are
/// numbered and all reachable (renumber()).
class DominatorTree {
  public:
    enum class Direction { Forward, Backward };
    DominatorTree() = default; ///< of nothing, to be assigned to
    explicit DominatorTree(const Function &function, Direction direction = Direction::Forward);

    /// Null for the root: the entry, or a block whose only post-dominator is the virtual end.
    [[nodiscard]] Block *parent(const Block *block) const { return parent_[block->id]; }
    /// True if `a` (post-)dominates `b`; a block does so itself.
    [[nodiscard]] bool dominates(const Block *a, const Block *b) const {
        return first_[a->id] <= first_[b->id] && last_[b->id] <= last_[a->id];
    }

  private:
    void number_tree();

    std::vector<Block *> parent_;             ///< by Block::id
    std::vector<std::uint32_t> first_, last_; ///< by Block::id: interval in a walk of the tree
};

} // namespace softcuda::ir
