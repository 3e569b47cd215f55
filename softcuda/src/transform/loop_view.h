// loop_view.h -- one loop of a function, as the searches for its end see it.
#pragma once

#include "analysis/cfg.h"
#include "ir/ir.h"

#include <algorithm>
#include <vector>

namespace softcuda::transform {

class LoopView {
  public:
    LoopView(const ir::Function &function, const analysis::Loop &loop,
             const ir::DominatorTree &dominators)
        : function_(function), loop_(loop), dominators_(dominators),
          inside_(function.blocks.size(), false) {
        for (const ir::Block *block : loop.blocks)
            inside_[block->id] = true;
    }

    [[nodiscard]] const ir::Function &function() const { return function_; }
    [[nodiscard]] const std::vector<ir::Block *> &blocks() const { return loop_.blocks; }
    [[nodiscard]] const ir::Block *header() const { return loop_.header; }
    [[nodiscard]] bool contains(const ir::Block *block) const { return inside_[block->id]; }

    [[nodiscard]] bool in_each_iteration(const ir::Block *block) const {
        return std::ranges::all_of(loop_.latches, [&](const ir::Block *latch) {
            return dominators_.dominates(block, latch);
        });
    }
    [[nodiscard]] bool leaves(const ir::Block *block) const {
        return std::ranges::any_of(block->successors(),
                                   [&](const ir::Block *to) { return !contains(to); });
    }
    /// True for a value that is defined outside the loop.
    [[nodiscard]] bool is_invariant(const ir::Value *value) const {
        return !value->definition || !contains(value->definition->block);
    }
    template <typename Test> [[nodiscard]] bool any_instruction(Test test) const {
        return std::ranges::any_of(blocks(), [&](const ir::Block *block) {
            return std::ranges::any_of(block->instructions,
                                       [&](const ir::Instruction *i) { return test(*i); });
        });
    }

  private:
    const ir::Function &function_;
    const analysis::Loop &loop_;
    const ir::DominatorTree &dominators_;
    std::vector<bool> inside_; ///< by Block::id
};

[[nodiscard]] inline bool is_constant(const ir::Value *value, std::uint64_t bits) {
    return value->constant && value->bits == bits;
}

[[nodiscard]] inline bool may_be_same_memory(ir::Space a, ir::Space b) {
    return a == b || a == ir::Space::Generic || b == ir::Space::Generic;
}

[[nodiscard]] inline bool is_atomic(const ir::Instruction &i) {
    return i.is(ir::Opcode::Atomic) || i.is(ir::Opcode::Reduce);
}

} // namespace softcuda::transform
