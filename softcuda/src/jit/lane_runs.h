// lane_runs.h -- runs of instructions that compute each lane of a warp for itself.
#pragma once

#include "jit/llvm.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

#include <cstdint>
#include <vector>

namespace softcuda::jit {

/// Instructions of one basic block, in their order. Instructions between them that are not members
/// do not depend on members, and may execute before the first one.
struct LaneRun {
    std::vector<llvm::Instruction *> members;
    llvm::Instruction *behind; ///< the instruction that ends the run, in the same basic block
};

/// The value that all lanes of a vector have; null if the vector is not a splat of an instruction.
[[nodiscard]] llvm::Value *splat_source(const llvm::Value &vector);

/// The registers of the value that an instruction computes or stores.
[[nodiscard]] std::uint64_t registers_of(const llvm::Instruction &i, unsigned register_bits);

/// A load of a value that never changes, at a constant address.
[[nodiscard]] bool is_table_load(const llvm::Value &value);

class LaneRuns {
  public:
    LaneRuns(llvm::Function &function, unsigned register_bits);

    /// Whether an instruction accesses a stack slot that only whole loads and stores access.
    [[nodiscard]] bool is_own_slot(const llvm::Value &pointer) const {
        return slots_.contains(&pointer);
    }

    /// The runs that are long enough to become loops, of all basic blocks.
    [[nodiscard]] const std::vector<LaneRun> &runs() const { return runs_; }

  private:
    llvm::DenseSet<const llvm::Value *> slots_;
    std::vector<LaneRun> runs_;
};

} // namespace softcuda::jit
