// debug_frame.h -- what a debugger reads in the stack frame of a warp.
//
// In a function that is compiled for a debugger, one variable on the stack holds what tells where
// the variables of a lane are, and those that are in registers on a GPU:
//
//     pointers    local memory of lane 0, shared memory, the module's variables, parameters,
//                 a table of threadIdx
//     words       chosen lane, mask, warp, blockIdx, gridDim, blockDim
//     for each variable of the source in registers: its values in the 32 lanes
//
// DWARF says of a variable where it is in the chosen lane, so that a debugger's own expressions
// work: `print tile[i].x`. The lane is chosen by writing `__warp.lane`; the extension for gdb
// (python/pycuda/_gdb) does so. A lane that is not in `__warp.mask` does not take part in what the
// warp does at the moment: its values are those that it had last.
#pragma once

#include "codegen/kernel_emitter.h"

#include <optional>

namespace softcuda::codegen {

class WarpEmitter;

class DebugFrame {
  public:
    /// At the builder's position, in the function's first block, once its invariants are known.
    DebugFrame(KernelEmitter &kernel, llvm::Value *warp);

    /// From here on the lanes of `mask`, a <32 x i1>, take part.
    void set_mask(WarpEmitter &w, llvm::Value *mask);
    /// A DebugValue operation.
    void set_value(WarpEmitter &w, const ir::Instruction &i);

  private:
    using Operations = llvm::SmallVector<std::uint64_t, 24>;

    void fill(llvm::Value *warp);
    void declare_all();
    void declare_coordinates();
    void declare_shared();
    void declare_parameters();
    void declare_source_variable(const ir::DebugVariable &variable, std::size_t number);
    void declare(const std::string &name, llvm::DIType *type, const Operations &where,
                 const ir::DebugVariable *variable = nullptr);
    [[nodiscard]] std::optional<Operations> place_of(const ir::DebugVariable &variable,
                                                     std::size_t number) const;
    [[nodiscard]] llvm::Value *member(std::uint64_t offset);
    void store(llvm::Value *value, std::uint64_t offset);
    [[nodiscard]] llvm::Constant *thread_table();

    KernelEmitter &kernel_;
    SourceLines &lines_;
    const ir::DebugFunction &source_;
    /// By variable: where its 32 values begin, and the bytes of one; none: not in registers.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> homes_;
    llvm::AllocaInst *frame_ = nullptr;
    unsigned parameters_ = 0;
};

} // namespace softcuda::codegen
