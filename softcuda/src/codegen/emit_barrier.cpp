// emit_barrier.cpp -- what a warp leaves at a block-wide barrier, and what it finds behind it.
//
// Waiting itself is the end of a region (kernel_emitter.cpp). A reducing barrier adds each warp's
// part to the worker's accumulators; when all warps have arrived the block loop turns them into
// results.

#include "codegen/warp_families.h"
#include "rt/kernel_abi.h"

#include <cstddef>

namespace softcuda::codegen {

namespace {

llvm::Value *member(WarpEmitter &w, std::size_t offset) {
    return w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), w.kernel.invariants.worker, offset);
}

llvm::Value *reduce_warp(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Value *yes = w.b.CreateAnd(w.bits_of(w.full(i.operand(0))), w.mask_bits());
    switch (i.attributes.reduction) {
    case ir::BarrierReduction::Count:
        return w.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, yes);
    case ir::BarrierReduction::Or:
        return w.b.CreateZExt(w.b.CreateICmpNE(yes, w.i32(0)), w.b.getInt32Ty());
    default: // And: whether any lane said no
        return w.b.CreateZExt(w.b.CreateICmpNE(yes, w.mask_bits()), w.b.getInt32Ty());
    }
}

llvm::Value *as_result(WarpEmitter &w, const ir::Instruction &i, llvm::Value *total) {
    if (i.attributes.reduction == ir::BarrierReduction::Count)
        return total;
    llvm::Value *truth = i.attributes.reduction == ir::BarrierReduction::And
                             ? w.b.CreateICmpEQ(total, w.i32(0))
                             : w.b.CreateICmpNE(total, w.i32(0));
    return w.b.CreateZExtOrTrunc(truth, w.type(i.result()->type));
}

} // namespace

void emit_barrier_arrival(WarpEmitter &w, const ir::Instruction &i) {
    if (!i.is(ir::Opcode::BarrierReduce))
        return;
    llvm::Value *part = reduce_warp(w, i);
    if (!w.kernel.has_regions()) { // the block is one warp
        w.define(i.result(), as_result(w, i, part));
        return;
    }
    llvm::Value *sum = member(w, offsetof(rt::WorkerState, barrier_sum));
    w.b.CreateStore(w.b.CreateAdd(w.b.CreateLoad(w.b.getInt32Ty(), sum), part), sum);
}

llvm::Value *emit_barrier_result(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Value *total =
        w.b.CreateLoad(w.b.getInt32Ty(), member(w, offsetof(rt::WorkerState, barrier_result)));
    return as_result(w, i, total);
}

} // namespace softcuda::codegen
