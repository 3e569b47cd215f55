// called_operations.h -- operations that a large kernel calls.
//
//     sin.approx x, a          call <32 x float> @sin.approx.f32.0(<32 x float> %a)
//
// An operation such as sin.approx or fma.f16x2 is some dozens of LLVM instructions, and LLVM takes
// about 0.1 ms for each. A kernel with thousands of such operations would compile for many seconds,
// so there each operation is one function.
#pragma once

#include "ir/ir.h"
#include "jit/llvm.h"
#include "vector_math/elementwise.h"

#include <vector>

namespace softcuda::codegen {

class KernelEmitter;

class CalledOperations {
  public:
    explicit CalledOperations(KernelEmitter &kernel) : kernel_(kernel) {}

    /// Chooses the operations, those with the most LLVM instructions first, until the others have
    /// few in total. Called once, before the function is emitted.
    void choose();
    /// Emits a call if the operation is a chosen one and has a value for each lane of the warp,
    /// else the operation itself, at the builder's position. Returns the results.
    std::vector<llvm::Value *> emit(const ir::Instruction &i,
                                    llvm::ArrayRef<llvm::Value *> operands);

  private:
    /// An operation, with all that its code depends on.
    struct Operation {
        const ir::Instruction *example = nullptr;
        vector_math::OperandFacts facts;
        llvm::Function *function = nullptr;
        std::size_t cost = 0; ///< LLVM instructions
        std::size_t uses = 0;
    };

    [[nodiscard]] vector_math::OperandFacts facts(const ir::Instruction &i) const;
    [[nodiscard]] Operation *find(const ir::Instruction &i, const vector_math::OperandFacts &facts);
    void build(Operation &operation);

    KernelEmitter &kernel_;
    std::vector<Operation> operations_; ///< while choose() runs all, then the chosen ones
};

} // namespace softcuda::codegen
