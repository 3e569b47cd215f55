// simplify_flow.cpp -- merges basic blocks, and removes empty ones.
//
//     a: jump b          b: %1 = phi [%0, a]          a: use %0
//                           use %1              =>       ...
#include "ir/clean_up.h"
#include "ir/replacements.h"

#include <algorithm>

namespace softcuda::ir {

namespace {

void drop_incoming(Block &block, const Block *from) {
    for (Instruction *phi : block.instructions) {
        if (!phi->is(Opcode::Phi))
            return;
        auto found = std::find(phi->blocks.begin(), phi->blocks.end(), from);
        if (found == phi->blocks.end())
            continue;
        phi->operands.erase(phi->operands.begin() + (found - phi->blocks.begin()));
        phi->blocks.erase(found);
    }
}

/// Branches that go one way only become jumps.
bool fix_branch(Block &block) {
    Instruction &end = *block.terminator();
    if (!end.is(Opcode::Branch) && !end.is(Opcode::Switch))
        return false;
    const Value &value = *end.operand(0);
    Block *taken = nullptr;
    if (std::all_of(end.blocks.begin(), end.blocks.end(),
                    [&](Block *target) { return target == end.blocks[0]; }))
        taken = end.blocks[0];
    else if (value.constant && end.is(Opcode::Branch))
        taken = end.blocks[value.bits ? 0 : 1];
    else if (value.constant)
        taken = end.blocks[std::min<std::uint64_t>(value.bits, end.blocks.size() - 1)];
    if (!taken)
        return false;
    for (Block *target : end.blocks) {
        if (target != taken)
            drop_incoming(*target, &block);
    }
    end.opcode = Opcode::Jump;
    end.operands.clear();
    end.blocks = {taken};
    return true;
}

/// Takes over the only successor of a block whose only predecessor it is.
bool merge_successor(Block &block, Replacements &replaced) {
    if (!block.terminator()->is(Opcode::Jump))
        return false;
    Block *next = block.successors()[0];
    if (next->predecessors.size() != 1 || next == &block)
        return false;
    block.instructions.pop_back();
    for (Instruction *instruction : next->instructions) {
        if (instruction->is(Opcode::Phi)) {
            replaced.add(instruction->result(), instruction->operand(0));
            continue;
        }
        instruction->block = &block;
        block.instructions.push_back(instruction);
    }
    for (Block *after : block.successors()) {
        std::replace(after->predecessors.begin(), after->predecessors.end(), next, &block);
        for (Instruction *phi : after->instructions) {
            if (!phi->is(Opcode::Phi))
                break;
            std::replace(phi->blocks.begin(), phi->blocks.end(), next, &block);
        }
    }
    next->instructions.clear();
    next->predecessors.clear();
    return true;
}

Value *incoming(const Instruction &phi, const Block *from) {
    auto found = std::find(phi.blocks.begin(), phi.blocks.end(), from);
    return found == phi.blocks.end() ? nullptr : phi.operands[found - phi.blocks.begin()];
}

/// True if the predecessors of an empty block may go straight to its target.
bool can_skip(const Block &empty, const Block &target) {
    for (const Instruction *phi : target.instructions) {
        if (!phi->is(Opcode::Phi))
            break;
        Value *value = incoming(*phi, &empty);
        for (const Block *predecessor : empty.predecessors) {
            Value *other = incoming(*phi, predecessor);
            if (other && other != value)
                return false;
        }
    }
    return true;
}

bool skip_empty(Block &empty) {
    if (empty.instructions.size() != 1 || !empty.terminator()->is(Opcode::Jump) ||
        empty.predecessors.empty())
        return false;
    Block *target = empty.successors()[0];
    if (target == &empty || !can_skip(empty, *target))
        return false;
    for (Instruction *phi : target->instructions) {
        if (!phi->is(Opcode::Phi))
            break;
        Value *value = incoming(*phi, &empty);
        for (Block *predecessor : empty.predecessors) {
            if (!incoming(*phi, predecessor)) {
                phi->operands.push_back(value);
                phi->blocks.push_back(predecessor);
            }
        }
    }
    drop_incoming(*target, &empty);
    for (Block *predecessor : empty.predecessors) {
        auto &targets = predecessor->terminator()->blocks;
        std::replace(targets.begin(), targets.end(), &empty, target);
        auto &list = target->predecessors;
        if (std::find(list.begin(), list.end(), predecessor) == list.end())
            list.push_back(predecessor);
    }
    std::erase(target->predecessors, &empty);
    empty.predecessors.clear();
    return true;
}

} // namespace

void simplify_flow(Function &function) {
    Replacements replaced;
    for (bool changed = true; changed;) {
        changed = false;
        for (Block *block : function.blocks)
            changed |= fix_branch(*block);
        if (changed)
            function.renumber();
        for (Block *block : function.blocks) {
            while (!block->instructions.empty() && merge_successor(*block, replaced))
                changed = true;
        }
        std::erase_if(function.blocks, [](Block *block) { return block->instructions.empty(); });
        function.renumber();
        for (std::size_t i = 1; i < function.blocks.size(); i++) {
            changed |= skip_empty(*function.blocks[i]);
        }
        function.renumber();
    }
    replaced.apply(function);
}

} // namespace softcuda::ir
