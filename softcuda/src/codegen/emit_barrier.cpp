// emit_barrier.cpp -- what a warp leaves at a barrier, and what it finds behind it.
//
// In the region tier waiting itself is the end of a region (kernel_emitter.cpp). A reducing barrier
// adds each warp's part to the worker's accumulators; when all warps have arrived the block loop
// turns them into results. In the others a call waits and brings the sum.

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

namespace {

// A fiber waits by a call. The barrier's number and count are those of the warp's first lane.
void emit_fiber_barrier(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Type *word = w.b.getInt32Ty(), *pointer = w.b.getPtrTy();
    const ir::Value *count = ir::barrier_threads(i);
    llvm::Value *worker = w.kernel.invariants.worker;
    llvm::Value *number = w.of_first_active(ir::barrier_number(i));
    llvm::Value *threads = count ? w.of_first_active(count) : w.i32(0);
    llvm::Value *place = w.kernel.text(w.kernel.plan.place(i));
    if (i.is(ir::Opcode::BarrierArrive)) {
        llvm::FunctionCallee arrive = w.kernel.runtime_function(
            "scu_barrier_arrive", w.b.getVoidTy(), {pointer, word, word, pointer});
        w.b.CreateCall(arrive, {worker, number, threads, place});
        return;
    }
    bool reduces = i.is(ir::Opcode::BarrierReduce);
    llvm::SmallVector<llvm::Value *, 6> arguments{worker, number, threads,
                                                  reduces ? reduce_warp(w, i) : w.i32(0), place};
    llvm::SmallVector<llvm::Type *, 6> types{pointer, word, word, word, pointer};
    if (w.kernel.has_lanes()) {
        arguments.insert(arguments.begin() + 1, w.lane_state());
        types.insert(types.begin() + 1, pointer);
    }
    llvm::StringRef name = w.kernel.has_lanes() ? "scu_lane_barrier" : "scu_barrier";
    llvm::Value *total = w.b.CreateCall(w.kernel.runtime_function(name, word, types), arguments);
    if (reduces)
        w.define(i.result(), as_result(w, i, total));
}

} // namespace

void emit_barrier_arrival(WarpEmitter &w, const ir::Instruction &i) {
    if (w.kernel.has_fibers())
        return emit_fiber_barrier(w, i);
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

void emit_yield(WarpEmitter &w) {
    llvm::FunctionCallee yield =
        w.kernel.runtime_function("scu_yield", w.b.getVoidTy(), {w.b.getPtrTy()});
    w.b.CreateCall(yield, {w.kernel.invariants.worker});
}

llvm::Value *emit_barrier_result(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Value *total =
        w.b.CreateLoad(w.b.getInt32Ty(), member(w, offsetof(rt::WorkerState, barrier_result)));
    return as_result(w, i, total);
}

} // namespace softcuda::codegen
