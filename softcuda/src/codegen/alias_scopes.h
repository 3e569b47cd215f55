// alias_scopes.h -- what LLVM is told of memory that kernels' own accesses never go to.
#pragma once

#include "jit/llvm.h"

namespace softcuda::codegen {

/// What a kernel loads and stores is neither scratch memory nor the worker's state, so values that
/// came from there need no reload.
class AliasScopes {
  public:
    explicit AliasScopes(llvm::LLVMContext &context) : context_(context) {}

    /// An access to a value in the scratch memory.
    llvm::Instruction *mark_scratch(llvm::Instruction *access);
    /// An access to the worker's state alone.
    void mark_worker(llvm::Instruction &access);
    /// Marks all other accesses of a function. Once, behind all of its code.
    void separate(llvm::Function &function);

  private:
    void make();

    llvm::LLVMContext &context_;
    // Lists of scopes:
    llvm::MDNode *scratch_ = nullptr, *worker_ = nullptr, *both_ = nullptr;
};

} // namespace softcuda::codegen
