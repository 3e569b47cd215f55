// replacements.h -- a set of value replacements that are applied together.
#pragma once

#include "ir/ir.h"

#include <unordered_map>

namespace softcuda::ir {

/// Collects "use this value instead of that one"; a replacement may be replaced in turn.
class Replacements {
  public:
    void add(const Value *from, Value *to) { map_[from] = to; }
    [[nodiscard]] bool empty() const { return map_.empty(); }

    [[nodiscard]] Value *resolve(Value *value) const {
        for (auto found = map_.find(value); found != map_.end(); found = map_.find(value))
            value = found->second;
        return value;
    }
    void apply(Instruction &instruction) const {
        for (Value *&operand : instruction.operands)
            operand = resolve(operand);
    }
    void apply(Function &function) const {
        if (map_.empty())
            return;
        for (Block *block : function.blocks) {
            for (Instruction *instruction : block->instructions)
                apply(*instruction);
        }
    }

  private:
    std::unordered_map<const Value *, Value *> map_;
};

} // namespace softcuda::ir
