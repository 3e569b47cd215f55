// prepare.cpp -- ends blocks at barriers; gives loops one latch, separate exits, and closed values.

#include "transform/prepare.h"

#include "analysis/cfg.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace softcuda::transform {

namespace {

using analysis::DominatorTree;
using analysis::Loop;
using analysis::LoopForest;
using ir::Block;
using ir::Function;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

void append_jump(Function &function, Block *from, Block *to) {
    Instruction *jump = function.create(Opcode::Jump, {}, {});
    jump->blocks.push_back(to);
    jump->block = from;
    from->instructions.push_back(jump);
}

void redirect(Block *from, Block *old_target, Block *new_target) {
    std::ranges::replace(from->terminator()->blocks, old_target, new_target);
}

std::span<Instruction *> phis(Block *block) {
    auto end = std::ranges::find_if(block->instructions,
                                    [](const Instruction *i) { return !i->is(Opcode::Phi); });
    return {block->instructions.data(),
            static_cast<std::size_t>(end - block->instructions.begin())};
}

void replace_incoming(Block *block, const Block *old_source, Block *new_source) {
    for (Instruction *phi : phis(block))
        for (Block *&source : phi->blocks)
            if (source == old_source)
                source = new_source;
}

void split_after(Function &function, Block *block, std::size_t index) {
    Block *rest = function.add_block(block->name + ".after");
    auto first = block->instructions.begin() + static_cast<std::ptrdiff_t>(index) + 1;
    rest->instructions.assign(first, block->instructions.end());
    block->instructions.erase(first, block->instructions.end());
    for (Instruction *i : rest->instructions)
        i->block = rest;
    for (Block *successor : rest->successors())
        replace_incoming(successor, block, rest);
    append_jump(function, block, rest);
}

void refresh(Function &function) {
    function.renumber();
    function.update_predecessors();
}

// Creates a phi in `merged` with the operands of `phi` from the latches; `phi` keeps the others.
void gather(Function &function, Instruction *phi, Block *merged,
            const std::vector<Block *> &latches) {
    Instruction *inner = function.create(Opcode::Phi, {}, std::array{phi->result()->type});
    inner->block = merged;
    for (std::size_t i = phi->blocks.size(); i-- > 0;) {
        if (std::ranges::find(latches, phi->blocks[i]) == latches.end())
            continue;
        inner->operands.push_back(phi->operands[i]);
        inner->blocks.push_back(phi->blocks[i]);
        phi->operands.erase(phi->operands.begin() + static_cast<std::ptrdiff_t>(i));
        phi->blocks.erase(phi->blocks.begin() + static_cast<std::ptrdiff_t>(i));
    }
    merged->instructions.push_back(inner);
    phi->operands.push_back(inner->result());
    phi->blocks.push_back(merged);
}

void merge_latches(Function &function, const Loop &loop) {
    Block *merged = function.add_block(loop.header->name + ".latch");
    for (Instruction *phi : phis(loop.header))
        gather(function, phi, merged, loop.latches);
    append_jump(function, merged, loop.header);
    for (Block *latch : loop.latches)
        redirect(latch, loop.header, merged);
}

void split_edge(Function &function, Block *from, Block *to) {
    Block *between = function.add_block(from->name + ".exit");
    append_jump(function, between, to);
    redirect(from, to, between);
    // There may have been several edges from `from` to `to`, which are now one.
    for (Instruction *phi : phis(to)) {
        bool seen = false;
        for (std::size_t i = 0; i < phi->blocks.size();) {
            if (phi->blocks[i] != from) {
                ++i;
            } else if (!seen) {
                phi->blocks[i++] = between;
                seen = true;
            } else {
                phi->blocks.erase(phi->blocks.begin() + static_cast<std::ptrdiff_t>(i));
                phi->operands.erase(phi->operands.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
    }
}

/// By value: the instructions that have it as an operand, and some that had it.
class Users {
  public:
    explicit Users(const Function &function) {
        for (const Block *block : function.blocks)
            for (Instruction *user : block->instructions)
                for (const Value *operand : user->operands)
                    add(operand, user);
    }

    void add(const Value *value, Instruction *user) {
        if (!value->constant)
            users_[value].push_back(user);
    }
    /// In the order of their basic blocks.
    [[nodiscard]] std::vector<Instruction *> outside(const Value *value,
                                                     const std::vector<bool> &inside) const {
        std::vector<Instruction *> found;
        const auto known = users_.find(value);
        if (known == users_.end())
            return found;
        for (Instruction *user : known->second)
            for (std::size_t i = 0; i < user->operands.size(); ++i) {
                const Block *where = user->is(Opcode::Phi) ? user->blocks[i] : user->block;
                if (user->operands[i] == value && !inside[where->id]) {
                    found.push_back(user);
                    break;
                }
            }
        std::ranges::stable_sort(found, {}, [](const Instruction *i) { return i->block->id; });
        return found;
    }

  private:
    std::unordered_map<const Value *, std::vector<Instruction *>> users_;
};

// Replaces the uses of a value outside of its loop by phis in the loop's exits, and adds joining
// phis if necessary.
class ValueCloser {
  public:
    ValueCloser(Function &function, Value *value, const Loop &loop, const DominatorTree &dominators,
                const LoopForest &forest, const std::vector<bool> &inside, Users &users)
        : function_(function), value_(value), home_(value->definition->block), forest_(forest),
          inside_(inside), users_(users) {
        for (Block *exit : loop.exits) {
            Block *source = exit->predecessors.front();
            if (dominators.dominates(home_, source))
                at_start_[exit] = add_phi(exit, {{source, value}});
        }
    }

    void rewrite(Instruction *user) {
        for (std::size_t i = 0; i < user->operands.size(); ++i) {
            if (user->operands[i] != value_)
                continue;
            Block *where = user->is(Opcode::Phi) ? user->blocks[i] : user->block;
            if (inside_[where->id] || is_own_phi(user))
                continue;
            user->operands[i] = at_end_of(where);
            users_.add(user->operands[i], user);
        }
    }

  private:
    bool is_own_phi(const Instruction *user) const {
        auto at = at_start_.find(user->block);
        return at != at_start_.end() && at->second->definition == user;
    }

    // The value at the start of `block`, which is also its value at the end, because it is defined
    // inside the loop.
    Value *at_end_of(Block *block) {
        if (auto found = at_start_.find(block); found != at_start_.end())
            return found->second;
        if (block->predecessors.empty() || inside_[block->id])
            return at_start_[block] = undefined(block);
        if (block->predecessors.size() == 1)
            return at_start_[block] = at_end_of(block->predecessors.front());
        if (Block *before = before_other_loops(block))
            return at_start_[block] = at_end_of(before);
        Value *joined = add_phi(block, {});
        at_start_[block] = joined;
        for (Block *predecessor : block->predecessors) {
            Value *incoming = at_end_of(predecessor);
            joined->definition->operands.push_back(incoming);
            joined->definition->blocks.push_back(predecessor);
            users_.add(incoming, joined->definition);
        }
        return joined;
    }

    // A loop that does not define the value does not change it. So the value here is its value
    // before the outermost such loop; a phi inside would be another value that leaves a loop.
    Block *before_other_loops(const Block *block) const {
        int outermost = -1;
        for (int loop = forest_.innermost(block); loop != -1 && !forest_.contains(loop, home_);
             loop = forest_.loops()[static_cast<std::size_t>(loop)].parent)
            outermost = loop;
        if (outermost == -1)
            return nullptr;
        Block *entry = nullptr;
        const Loop &loop = forest_.loops()[static_cast<std::size_t>(outermost)];
        for (Block *predecessor : loop.header->predecessors) {
            if (forest_.contains(outermost, predecessor))
                continue;
            assert(!entry && "a loop without a preheader");
            entry = predecessor;
        }
        return entry;
    }

    Value *add_phi(Block *block, std::vector<std::pair<Block *, Value *>> incoming) {
        Instruction *phi = function_.create(Opcode::Phi, {}, std::array{value_->type});
        phi->block = block;
        for (auto &[source, value] : incoming) {
            phi->operands.push_back(value);
            phi->blocks.push_back(source);
            users_.add(value, phi);
        }
        block->instructions.insert(block->instructions.begin(), phi);
        return phi->result();
    }

    Value *undefined(Block *block) {
        Instruction *undef = function_.create(Opcode::Undef, {}, std::array{value_->type});
        undef->block = block;
        block->instructions.insert(
            block->instructions.begin() + static_cast<std::ptrdiff_t>(phis(block).size()), undef);
        return undef->result();
    }

    Function &function_;
    Value *value_;
    const Block *home_;
    const LoopForest &forest_;
    const std::vector<bool> &inside_;
    Users &users_;
    std::map<Block *, Value *> at_start_;
};

} // namespace

void split_at_barriers(Function &function) {
    for (std::size_t b = 0; b < function.blocks.size(); ++b) {
        Block *block = function.blocks[b];
        for (std::size_t i = 0; i + 1 < block->instructions.size(); ++i)
            if (ir::is_block_barrier(*block->instructions[i])) {
                split_after(function, block, i);
                break; // the rest is now a later block
            }
    }
    refresh(function);
}

void simplify_loops(Function &function) {
    refresh(function);
    {
        DominatorTree dominators(function, DominatorTree::Direction::Forward);
        LoopForest forest(function, dominators);
        for (const Loop &loop : forest.loops())
            if (loop.latches.size() > 1)
                merge_latches(function, loop);
    }
    refresh(function);
    DominatorTree dominators(function, DominatorTree::Direction::Forward);
    LoopForest forest(function, dominators);
    std::vector<std::pair<Block *, Block *>> exits;
    for (Block *block : function.blocks) {
        const auto first = static_cast<std::ptrdiff_t>(exits.size());
        for (Block *successor : block->successors())
            if (forest.innermost(block) != -1 &&
                !forest.contains(forest.innermost(block), successor) &&
                std::find(exits.begin() + first, exits.end(), std::pair{block, successor}) ==
                    exits.end())
                exits.emplace_back(block, successor);
    }
    for (auto [from, to] : exits)
        split_edge(function, from, to);
    refresh(function);
}

void close_loops(Function &function) {
    DominatorTree dominators(function, DominatorTree::Direction::Forward);
    LoopForest forest(function, dominators);
    Users users(function);
    std::vector<bool> inside(function.blocks.size(), false);
    // Inner loops first, because their phis may leave an outer loop.
    for (auto loop = forest.loops().rbegin(); loop != forest.loops().rend(); ++loop) {
        // In the order of the function, which is the same in every process.
        std::vector<Block *> blocks = loop->blocks;
        std::ranges::sort(blocks, {}, &Block::id);
        for (const Block *block : blocks)
            inside[block->id] = true;
        std::vector<Value *> values;
        for (const Block *block : blocks)
            for (const Instruction *i : block->instructions)
                values.insert(values.end(), i->results.begin(), i->results.end());
        for (Value *value : values) {
            const std::vector<Instruction *> escaped = users.outside(value, inside);
            if (escaped.empty())
                continue;
            ValueCloser closer(function, value, *loop, dominators, forest, inside, users);
            for (Instruction *user : escaped)
                closer.rewrite(user);
        }
        for (const Block *block : blocks)
            inside[block->id] = false;
    }
}

} // namespace softcuda::transform
