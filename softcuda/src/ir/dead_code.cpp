// dead_code.cpp -- removes unused operations and variables.
#include "ir/clean_up.h"

#include <algorithm>

namespace softcuda::ir {

namespace {

/// An operation that may go if its results are not used. Weak loads may: they change nothing.
bool removable(const Instruction &instruction) {
    const OpcodeInfo &facts = info(instruction.opcode);
    if (facts.terminator || facts.writes)
        return false;
    return facts.pure || !facts.reads || instruction.attributes.order == Order::Weak;
}

class DeadCode {
  public:
    explicit DeadCode(Function &function)
        : function_(function), used_(function.value_count(), false) {}

    void run() {
        for (Block *block : function_.blocks) {
            for (Instruction *instruction : block->instructions) {
                if (!removable(*instruction))
                    use_operands(*instruction);
            }
        }
        while (!pending_.empty()) {
            const Instruction *next = pending_.back();
            pending_.pop_back();
            use_operands(*next);
        }
        for (Block *block : function_.blocks)
            sweep(*block);
    }

  private:
    void use_operands(const Instruction &instruction) {
        for (Value *operand : instruction.operands) {
            if (used_[operand->id])
                continue;
            bool first = !any_used(operand->definition);
            used_[operand->id] = true;
            if (operand->definition && first && removable(*operand->definition))
                pending_.push_back(operand->definition);
        }
    }

    bool any_used(const Instruction *instruction) const {
        return instruction && std::any_of(instruction->results.begin(), instruction->results.end(),
                                          [&](const Value *r) { return used_[r->id]; });
    }

    void sweep(Block &block) {
        std::erase_if(block.instructions, [&](Instruction *instruction) {
            return removable(*instruction) && !any_used(instruction);
        });
        for (Instruction *instruction : block.instructions) {
            AtomicOp op = instruction->attributes.atomic;
            if (instruction->is(Opcode::Atomic) && !any_used(instruction) &&
                op != AtomicOp::Exchange && op != AtomicOp::CompareSwap) {
                instruction->opcode = Opcode::Reduce;
                instruction->results.clear();
            }
        }
    }

    Function &function_;
    std::vector<bool> used_; ///< by value id
    std::vector<const Instruction *> pending_;
};

} // namespace

void eliminate_dead_code(Function &function) { DeadCode(function).run(); }

} // namespace softcuda::ir
