// alias_scopes.h -- tells LLVM about memory that kernels' own accesses never use.
#pragma once

#include "jit/llvm.h"

namespace softcuda::codegen {

/// A kernel's loads and stores never access scratch memory or the worker's state, so values from
/// there need no reload.
class AliasScopes {
  public:
    explicit AliasScopes(llvm::LLVMContext &context) : context_(context) {}

    /// Marks an access to a value in the scratch memory.
    llvm::Instruction *mark_scratch(llvm::Instruction *access);
    /// Marks an access only to the worker's state.
    void mark_worker(llvm::Instruction &access);
    /// Marks all other accesses of a function. Called once, after all of its code.
    void separate(llvm::Function &function);

  private:
    void make();

    llvm::LLVMContext &context_;
    // Lists of scopes:
    llvm::MDNode *scratch_ = nullptr, *worker_ = nullptr, *both_ = nullptr;
};

} // namespace softcuda::codegen
