// dominators.h -- dominators and post-dominators of basic blocks.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <vector>

namespace softcuda::ir {

/// Basic blocks that are reachable from the entry, in reverse post-order: each before its
/// successors, except for back edges.
[[nodiscard]] std::vector<Block *> reverse_postorder(const Function &function);

/// Immediate dominators, or post-dominators with a virtual end after all exits. Basic blocks must
/// be numbered and reachable (renumber()).
class DominatorTree {
  public:
    enum class Direction { Forward, Backward };
    DominatorTree() = default; ///< empty, to be assigned to
    explicit DominatorTree(const Function &function, Direction direction = Direction::Forward);

    /// Null for the root: the entry, or a basic block whose only post-dominator is the virtual end.
    [[nodiscard]] Block *parent(const Block *block) const { return parent_[block->id]; }
    /// True if `a` (post-)dominates `b`; a basic block dominates itself.
    [[nodiscard]] bool dominates(const Block *a, const Block *b) const {
        return first_[a->id] <= first_[b->id] && last_[b->id] <= last_[a->id];
    }

  private:
    void number_tree();

    std::vector<Block *> parent_;             ///< by Block::id
    std::vector<std::uint32_t> first_, last_; ///< by Block::id: interval in a walk of the tree
};

} // namespace softcuda::ir
