// ssa_builder.cpp -- converts variables to SSA values, without recursion, because functions may be
// long.
#include "ir/ssa_builder.h"

#include <algorithm>

namespace softcuda::ir {

SsaBuilder::BlockState &SsaBuilder::state(const Block *block) { return states_[block]; }

std::uint32_t SsaBuilder::new_variable(Type type) {
    types_.push_back(type);
    return static_cast<std::uint32_t>(types_.size() - 1);
}

void SsaBuilder::write(std::uint32_t variable, Block *block, Value *value) {
    state(block).values[variable] = value;
}

Value *SsaBuilder::read(std::uint32_t variable, Block *block) {
    Value *value = look_up(variable, block);
    fill_pending();
    return value;
}

Value *SsaBuilder::look_up(std::uint32_t variable, Block *block) {
    std::vector<Block *> passed;
    Value *value = nullptr;
    while (!value) {
        BlockState &here = state(block);
        passed.push_back(block);
        if (auto found = here.values.find(variable); found != here.values.end()) {
            value = found->second;
        } else if (!here.sealed) {
            Instruction *phi = make_phi(variable, block);
            here.incomplete.push_back({variable, phi});
            value = phi->result();
        } else if (block->predecessors.empty() || passed.size() > function_.blocks.size()) {
            // Nothing leads here, or a loop that nothing enters.
            value = undefined(types_[variable]);
        } else if (block->predecessors.size() == 1) {
            block = block->predecessors[0];
        } else {
            Instruction *phi = make_phi(variable, block);
            pending_.push_back({variable, phi});
            value = phi->result();
        }
    }
    for (Block *on_the_way : passed)
        write(variable, on_the_way, value);
    return value;
}

Instruction *SsaBuilder::make_phi(std::uint32_t variable, Block *block) {
    Type type = types_[variable];
    Instruction *phi = function_.create(Opcode::Phi, {}, std::span(&type, 1));
    phi->block = block;
    state(block).phis.push_back(phi);
    return phi;
}

void SsaBuilder::fill_pending() {
    while (!pending_.empty()) {
        auto [variable, phi] = pending_.back();
        pending_.pop_back();
        for (Block *predecessor : phi->block->predecessors) {
            Value *value = look_up(variable, predecessor);
            phi->operands.push_back(value);
            phi->blocks.push_back(predecessor);
        }
    }
}

Value *SsaBuilder::undefined(Type type) {
    Value *&value = undefined_[type];
    if (!value) {
        Instruction *undef = function_.create(Opcode::Undef, {}, std::span(&type, 1));
        undef->block = entry_;
        entry_->instructions.insert(entry_->instructions.begin(), undef);
        value = undef->result();
    }
    return value;
}

bool SsaBuilder::sealed(const Block *block) const {
    auto found = states_.find(block);
    return found != states_.end() && found->second.sealed;
}

void SsaBuilder::seal(Block *block) {
    BlockState &here = state(block);
    here.sealed = true;
    pending_.insert(pending_.end(), here.incomplete.begin(), here.incomplete.end());
    here.incomplete.clear();
    fill_pending();
}

Value *SsaBuilder::resolved(Value *value) {
    for (auto found = replaced_.find(value); found != replaced_.end();
         found = replaced_.find(value))
        value = found->second;
    return value;
}

/// A phi of one value and itself is that value; dropping one can make others needless.
void SsaBuilder::drop_trivial_phis() {
    for (bool changed = true; changed;) {
        changed = false;
        for (Block *block : function_.blocks) {
            std::erase_if(state(block).phis, [&](Instruction *phi) {
                Value *only = nullptr;
                for (Value *&operand : phi->operands) {
                    operand = resolved(operand);
                    if (operand == phi->result() || operand == only)
                        continue;
                    if (only)
                        return false;
                    only = operand;
                }
                replaced_[phi->result()] = only ? only : undefined(phi->result()->type);
                changed = true;
                return true;
            });
        }
    }
}

void SsaBuilder::finish() {
    for (Block *block : function_.blocks) {
        if (!sealed(block))
            seal(block);
    }
    drop_trivial_phis();
    for (Block *block : function_.blocks) {
        auto &list = block->instructions;
        for (Instruction *phi : state(block).phis) {
            for (Value *&operand : phi->operands)
                operand = resolved(operand);
        }
        for (Instruction *instruction : list) {
            for (Value *&operand : instruction->operands)
                operand = resolved(operand);
        }
        list.insert(list.begin(), state(block).phis.begin(), state(block).phis.end());
    }
}

} // namespace softcuda::ir
