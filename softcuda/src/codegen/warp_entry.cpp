// warp_entry.cpp -- the function of a kernel whose warps are fibers: it runs one warp, on its own
// stack, which keeps all of the warp's values.
//
//     entry(frame, worker, block, warp)

#include "codegen/counts.h"
#include "codegen/kernel_emitter.h"
#include "codegen/warp_emitter.h"

namespace softcuda::codegen {

namespace {

void emit_warp(KernelEmitter &kernel, llvm::Value *warp, llvm::Value *active,
               llvm::BasicBlock *end) {
    WarpEmitter emitter(kernel, 0, warp, active);
    kernel.tier.flow(emitter, end, {});
}

/// One version of the code, for full warps and for the last one.
void emit_all_warps(KernelEmitter &kernel, llvm::Value *warp, llvm::Value *is_last,
                    llvm::BasicBlock *end) {
    llvm::Value *active = kernel.builder.CreateSelect(is_last, kernel.last_warps_lanes(),
                                                      kernel.all_lanes_active(), "active");
    emit_warp(kernel, warp, active, end);
}

/// Two versions: the masks of the full warps are known to be full.
void emit_last_warp_apart(KernelEmitter &kernel, llvm::Value *warp, llvm::Value *is_last,
                          llvm::BasicBlock *end) {
    llvm::IRBuilder<> &b = kernel.builder;
    llvm::BasicBlock *last = kernel.frame.new_block("last.warp");
    llvm::BasicBlock *other = kernel.frame.new_block("warp");
    b.CreateCondBr(is_last, last, other);
    b.SetInsertPoint(last);
    emit_warp(kernel, b.getInt32(kernel.plan.launch.warps() - 1), kernel.last_warps_lanes(), end);
    b.SetInsertPoint(other);
    emit_warp(kernel, warp, kernel.all_lanes_active(), end);
}

using EmitPartOfBlock = void (*)(KernelEmitter &, llvm::Value *warp, llvm::Value *is_last,
                                 llvm::BasicBlock *end);

// The runtime has set WorkerState::warp_index.
llvm::Function *emit_one_warp(KernelEmitter &kernel, const std::string &name,
                              EmitPartOfBlock last_warp_differs) {
    llvm::IRBuilder<> &b = kernel.builder;
    FunctionFrame &frame = kernel.frame;
    llvm::Function *function = kernel.new_function(name, {b.getInt64Ty(), b.getInt32Ty()});
    frame.begin(function);
    b.SetInsertPoint(frame.new_block("entry"));
    kernel.read_frame();
    frame.invariants.launch_index = function->getArg(2);
    frame.read_block_index(frame.invariants.launch_index);
    llvm::Value *warp = function->getArg(3);
    kernel.begin_debug_frame(warp);
    llvm::BasicBlock *end = frame.new_block("end");
    const unsigned warps = kernel.plan.launch.warps();
    if (!kernel.plan.launch.is_fixed())
        emit_warp(kernel, warp, kernel.lanes_of(warp), end);
    else if (kernel.plan.launch.has_whole_warps())
        emit_warp(kernel, warp, kernel.all_lanes_active(), end);
    else if (warps == 1)
        emit_warp(kernel, warp, kernel.last_warps_lanes(), end);
    else
        last_warp_differs(kernel, warp, b.CreateICmpEQ(warp, b.getInt32(warps - 1)), end);
    b.SetInsertPoint(end);
    b.CreateRetVoid();
    if (kernel.counts)
        kernel.counts->finish();
    return function;
}

} // namespace

// A debugger needs one version of the code for each line.
llvm::Function *emit_fiber(KernelEmitter &kernel, const std::string &name) {
    return emit_one_warp(kernel, name,
                         kernel.plan.function.debug ? emit_all_warps : emit_last_warp_apart);
}

// Lanes run separately: knowing that all of them start would make nothing faster.
llvm::Function *emit_fiber_of_lanes(KernelEmitter &kernel, const std::string &name) {
    return emit_one_warp(kernel, name, emit_all_warps);
}

} // namespace softcuda::codegen
