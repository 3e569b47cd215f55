// dominators.h -- which blocks every way to a block passes through.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <vector>

namespace softcuda::ir {

/// The dominator tree of a function whose blocks are numbered and all reachable (renumber()).
class Dominators {
  public:
    explicit Dominators(const Function &function);

    /// Null for the entry.
    [[nodiscard]] Block *immediate(const Block &block) const;
    /// Reflexive: a block dominates itself.
    [[nodiscard]] bool dominates(const Block &above, const Block &below) const;
    /// Blocks such that each comes after its dominators; loops' back edges go backwards in it.
    [[nodiscard]] const std::vector<Block *> &reverse_postorder() const { return order_; }

  private:
    void number_tree();

    const Function &function_;
    std::vector<Block *> order_;
    std::vector<std::uint32_t> place_;        ///< by block id: index in order_
    std::vector<std::uint32_t> immediate_;    ///< by place: the place of the immediate dominator
    std::vector<std::uint32_t> first_, last_; ///< by place: interval in a walk of the tree
};

/// Blocks reachable from the entry, each before its successors but for back edges.
[[nodiscard]] std::vector<Block *> reverse_postorder(const Function &function);

} // namespace softcuda::ir
