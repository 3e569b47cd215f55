// emit_barrier.cpp -- what a warp leaves at a barrier, and what it finds behind it.
//
// In the region tier waiting itself is the end of a region (kernel_emitter.cpp). A reducing barrier
// adds each warp's part to the worker's accumulators; when all warps have arrived the block loop
// turns them into results. In the others a call waits and brings the sum.

#include "codegen/warp_families.h"
#include "codegen/watch.h"
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

rt::BarrierPart part_of(const ir::Instruction &i) {
    if (!i.is(ir::Opcode::BarrierReduce))
        return rt::BarrierPart::Nothing;
    switch (i.attributes.reduction) {
    case ir::BarrierReduction::Count:
        return rt::BarrierPart::CountOfYes;
    case ir::BarrierReduction::Or:
        return rt::BarrierPart::AnyYes;
    default:
        return rt::BarrierPart::AnyNo;
    }
}

// A fiber waits by a call. The barrier's number and count are those of the warp's first lane; in
// the lane tier, the runtime adds up the votes of all lanes of the warp.
void emit_fiber_barrier(WarpEmitter &w, const ir::Instruction &i) {
    const bool lanes = w.kernel.has_lanes();
    const bool arrives = i.is(ir::Opcode::BarrierArrive), reduces = i.is(ir::Opcode::BarrierReduce);
    const ir::Value *count = ir::barrier_threads(i);
    llvm::SmallVector<llvm::Value *, 6> arguments{w.kernel.invariants.worker};
    if (lanes)
        arguments.push_back(w.lane_state());
    arguments.push_back(w.of_first_active(ir::barrier_number(i)));
    arguments.push_back(count ? w.of_first_active(count) : w.i32(0));
    if (!arrives && lanes)
        arguments.push_back(w.i32(static_cast<std::uint32_t>(part_of(i))));
    else if (!arrives)
        arguments.push_back(reduces ? reduce_warp(w, i) : w.i32(0));
    arguments.push_back(w.kernel.text(w.kernel.plan.place(i)));
    llvm::SmallVector<llvm::Type *, 6> types;
    for (llvm::Value *argument : arguments)
        types.push_back(argument->getType());
    std::string name = lanes ? "scu_lane_barrier" : "scu_barrier";
    llvm::Type *result = w.b.getInt32Ty();
    if (arrives) {
        name += "_arrive";
        result = w.b.getVoidTy();
    }
    llvm::Value *total = w.b.CreateCall(w.kernel.runtime_function(name, result, types), arguments);
    if (reduces)
        w.define(i.result(), as_result(w, i, total));
}

} // namespace

void emit_barrier_arrival(WarpEmitter &w, const ir::Instruction &i) {
    watch_barrier(w, i);
    if (w.kernel.has_fibers())
        return emit_fiber_barrier(w, i);
    if (!w.kernel.has_regions()) // all that come are here, and the warp goes on at once
        w.kernel.watch_pass(/*all=*/true);
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

void emit_preemption_point(WarpEmitter &w, const ir::Instruction &i) {
    const auto &points = w.kernel.plan.waits.preemption_points;
    const auto point = points.find(&i);
    if (point == points.end() || !w.kernel.has_fibers())
        return;
    llvm::FunctionCallee preempt = w.kernel.runtime_function("scu_preempt", w.b.getVoidTy(),
                                                             {w.b.getPtrTy(), w.b.getInt32Ty()});
    w.b.CreateCall(preempt, {w.kernel.invariants.worker, w.i32(point->second)});
}

llvm::Value *emit_barrier_result(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Value *total =
        w.b.CreateLoad(w.b.getInt32Ty(), member(w, offsetof(rt::WorkerState, barrier_result)));
    return as_result(w, i, total);
}

} // namespace softcuda::codegen
