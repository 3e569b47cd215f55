// lane_slots.h -- the memory in which loops over the parts of a warp leave their results.
#pragma once

#include "jit/lane_runs.h"
#include "jit/llvm.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>

#include <vector>

namespace softcuda::jit {

class Target;

/// A slot for each value that a run computes and other instructions use, or the other way round.
class LaneSlots {
  public:
    static constexpr llvm::Align kAlignment = llvm::Align::Constant<32>();

    LaneSlots(llvm::Function &function, const std::vector<LaneRun> &runs, const Target &target);

    /// The run of which an instruction is a member; null if it stays.
    [[nodiscard]] const LaneRun *run_of(const llvm::Value &value) const {
        return run_of_.lookup(&value);
    }

    /// The slot of a value. A mask is in it as bytes.
    [[nodiscard]] llvm::Value *slot_of(llvm::Value &value);
    /// The same for a constant: a variable.
    [[nodiscard]] llvm::Value *variable_of(llvm::Constant &constant);

    /// Stores values that stay to their slots, and loads the values of runs for instructions that
    /// stay. The members of runs have no users besides members then.
    void connect();

  private:
    [[nodiscard]] llvm::Value *load(llvm::Instruction &value, llvm::Instruction &user);
    void store(llvm::Value &value, llvm::Value &slot);
    [[nodiscard]] bool is_only_for_loops(const llvm::Value &value) const;
    [[nodiscard]] llvm::Function *copy_of(llvm::FixedVectorType *type);
    void load_for_users(llvm::Instruction &value);

    llvm::Function &function_;
    llvm::DenseMap<const llvm::Value *, const LaneRun *> run_of_;
    llvm::MapVector<llvm::Value *, llvm::AllocaInst *> slots_;
    const Target &target_;
    llvm::DenseMap<llvm::Constant *, llvm::GlobalVariable *> variables_;
    llvm::DenseMap<llvm::Type *, llvm::Function *> copies_;
};

} // namespace softcuda::jit
