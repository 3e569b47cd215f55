// ssa_builder.h -- converts variables with several writes to SSA values while code is built.
//
// After Braun et al., "Simple and Efficient Construction of Static Single Assignment Form": a read
// in a basic block without a write looks up the variable in the predecessors; several predecessors
// need a phi.
//
//     block a: write(x, 1)                      c:  %5 = phi [1, a], [2, b]
//     block b: write(x, 2)           gives          use %5
//     block c: read(x), preds a, b
//
// A basic block is sealed when all its predecessors are known. Before that, each read creates a
// phi, whose operands are added when the basic block is sealed. finish() removes unnecessary phis.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace softcuda::ir {

class SsaBuilder {
  public:
    /// Undefined values are made in `entry`, which must dominate everything.
    SsaBuilder(Function &function, Block *entry) : function_(function), entry_(entry) {}

    std::uint32_t new_variable(Type type);
    [[nodiscard]] Type type(std::uint32_t variable) const { return types_[variable]; }
    void write(std::uint32_t variable, Block *block, Value *value);
    Value *read(std::uint32_t variable, Block *block);
    void seal(Block *block);
    [[nodiscard]] bool sealed(const Block *block) const;

    /// Seals the remaining basic blocks, removes unnecessary phis, and inserts the others in their
    /// basic blocks.
    void finish();

  private:
    struct Pending {
        std::uint32_t variable;
        Instruction *phi;
    };
    struct BlockState {
        bool sealed = false;
        std::unordered_map<std::uint32_t, Value *> values;
        std::vector<Pending> incomplete;
        std::vector<Instruction *> phis;
    };

    BlockState &state(const Block *block);
    Value *look_up(std::uint32_t variable, Block *block);
    Instruction *make_phi(std::uint32_t variable, Block *block);
    void fill_pending();
    Value *undefined(Type type);
    void drop_trivial_phis();
    Value *resolved(Value *value);

    Function &function_;
    Block *entry_;
    std::vector<Type> types_;
    std::unordered_map<const Block *, BlockState> states_;
    std::vector<Pending> pending_;
    std::unordered_map<Type, Value *> undefined_;
    std::unordered_map<Value *, Value *> replaced_;
};

} // namespace softcuda::ir
