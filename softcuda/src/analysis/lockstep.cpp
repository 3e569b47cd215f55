// lockstep.cpp -- finds the values that are equal for all threads of a block, and derives lockstep.
//
// A value counts as equal until there is a reason against it: its operation, an operand, or, for a
// phi, a divergent branch that decides from which block the phi is reached.

#include "analysis/lockstep.h"

#include <algorithm>
#include <utility>

namespace softcuda::analysis {

namespace {

using ir::Opcode;
using ir::Special;

bool ends_with_barrier(const ir::Block &block) {
    return std::ranges::any_of(block.instructions, [](const ir::Instruction *i) {
        return i->is(Opcode::Barrier) || i->is(Opcode::BarrierReduce);
    });
}

class Search {
  public:
    Search(const ir::Function &function, const DominatorTree &post_dominators)
        : function_(function), post_dominators_(post_dominators),
          differs_(function.value_count(), false), split_(function.blocks.size(), false),
          decided_by_split_(function.blocks.size(), false) {}

    Lockstep run() {
        for (bool changed = true; changed;) {
            changed = false;
            for (const ir::Block *block : function_.blocks) {
                for (const ir::Instruction *i : block->instructions)
                    changed |= update(*i);
                changed |= update_branch(*block);
                if (broken_)
                    return {};
            }
        }
        differs_.flip();
        return {.holds = true, .same = std::move(differs_)};
    }

  private:
    bool differs(const ir::Value *value) const { return !value->constant && differs_[value->id]; }

    bool may_differ(const ir::Instruction &i) const {
        switch (i.opcode) {
        case Opcode::Special:
            return !is_same_for_block(i.attributes.special);
        case Opcode::LoadParam:
        case Opcode::ParamAddress:
        case Opcode::SymbolAddress:
        case Opcode::FunctionAddress:
        case Opcode::BarrierReduce:
            return false;
        case Opcode::Phi:
            return decided_by_split_[i.block->id] ||
                   std::ranges::any_of(i.operands, [&](auto *v) { return differs(v); });
        default:
            return !ir::info(i.opcode).pure || i.is(Opcode::Undef) ||
                   std::ranges::any_of(i.operands, [&](auto *v) { return differs(v); });
        }
    }

    bool update(const ir::Instruction &i) {
        if (i.results.empty() || differs(i.results[0]) || !may_differ(i))
            return false;
        for (const ir::Value *result : i.results)
            differs_[result->id] = true;
        return true;
    }

    bool update_branch(const ir::Block &block) {
        const ir::Instruction &end = *block.terminator();
        if (end.blocks.size() < 2 || split_[block.id] || !differs(end.operand(0)))
            return false;
        split_[block.id] = true;
        mark_divergent_blocks(block);
        return true;
    }

    // Marks the blocks between a divergent branch and the block where the threads reconverge.
    void mark_divergent_blocks(const ir::Block &branch) {
        const ir::Block *meeting = post_dominators_.parent(&branch);
        std::vector<bool> seen(function_.blocks.size(), false);
        std::vector<const ir::Block *> left;
        auto reach = [&](const ir::Block *block) {
            decided_by_split_[block->id] = true;
            if (block != meeting && !seen[block->id]) {
                seen[block->id] = true;
                left.push_back(block);
            }
        };
        for (const ir::Block *way : branch.successors())
            reach(way);
        while (!left.empty()) {
            const ir::Block *block = left.back();
            left.pop_back();
            broken_ |= ends_with_barrier(*block);
            for (const ir::Block *next : block->successors())
                reach(next);
        }
    }

    const ir::Function &function_;
    const DominatorTree &post_dominators_;
    std::vector<bool> differs_; ///< by Value::id: may differ between threads of a block
    std::vector<bool> split_;   ///< by Block::id: threads may branch to different blocks
    std::vector<bool>
        decided_by_split_; ///< by Block::id: so its predecessor may differ between threads
    bool broken_ = false;
};

} // namespace

bool is_same_for_block(Special special) {
    switch (special) {
    case Special::NtidX:
    case Special::NtidY:
    case Special::NtidZ:
    case Special::CtaidX:
    case Special::CtaidY:
    case Special::CtaidZ:
    case Special::NctaidX:
    case Special::NctaidY:
    case Special::NctaidZ:
    case Special::DynamicSharedSize:
        return true;
    default:
        return false;
    }
}

namespace {

constexpr unsigned kMostSameDepth = 8; ///< operations that is_same_in_block() follows

bool is_same(const ir::Value *value, unsigned depth) {
    if (value->constant)
        return true;
    const ir::Instruction *i = value->definition;
    if (!i || depth == 0)
        return false;
    if (i->is(Opcode::Special))
        return is_same_for_block(i->attributes.special);
    if (i->is(Opcode::LoadParam) || i->is(Opcode::SymbolAddress))
        return true;
    return ir::info(i->opcode).pure && !i->is(Opcode::Phi) &&
           std::ranges::all_of(
               i->operands, [&](const ir::Value *operand) { return is_same(operand, depth - 1); });
}

} // namespace

bool is_same_in_block(const ir::Value *value) { return is_same(value, kMostSameDepth); }

Lockstep find_lockstep(const ir::Function &function, const DominatorTree &post_dominators) {
    return Search(function, post_dominators).run();
}

} // namespace softcuda::analysis
