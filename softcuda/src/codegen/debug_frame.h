// debug_frame.h -- stores into the variable `__warp` that a debugger reads
// (debug_data/warp_variable.h).
#pragma once

#include "codegen/kernel_emitter.h"
#include "debug_data/warp_variable.h"

namespace softcuda::codegen {

class WarpEmitter;

/// The frame of a function that is compiled for a debugger.
class DebugFrame {
  public:
    /// Created at the builder's position, in the function's first block, when its invariants are
    /// known.
    DebugFrame(KernelEmitter &kernel, llvm::Value *warp);

    /// From here on the lanes of `mask`, a <32 x i1>, are active.
    void set_mask(WarpEmitter &w, llvm::Value *mask);
    /// A DebugValue operation.
    void set_value(WarpEmitter &w, const ir::Instruction &i);

  private:
    void fill(llvm::Value *warp);
    [[nodiscard]] llvm::Value *member(std::uint64_t offset);
    void store(llvm::Value *value, std::uint64_t offset);
    [[nodiscard]] llvm::Constant *thread_table();

    KernelEmitter &kernel_;
    debug_data::WarpVariable variable_;
    llvm::AllocaInst *frame_ = nullptr;
};

} // namespace softcuda::codegen
