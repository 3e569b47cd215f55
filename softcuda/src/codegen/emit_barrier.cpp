// emit_barrier.cpp -- saving a warp's values at a barrier, and loading them after it.
//
// In the tier regions the wait itself is the end of a region (region_loops.cpp). A reducing barrier
// adds each warp's part to the worker's accumulators; when all warps have arrived, the block loop
// turns them into results. In the other tiers a call waits and returns the sum.

#include "codegen/lane_flow.h"
#include "codegen/warp_families.h"
#include "codegen/watch.h"
#include "rt/kernel_abi.h"

#include <cstddef>

namespace softcuda::codegen {

namespace {

llvm::Value *member(WarpEmitter &w, std::size_t offset) {
    return w.kernel.frame.worker_member(offset);
}

llvm::Value *reduce_warp(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Value *yes = w.b.CreateAnd(w.bits_of(w.full(i.operand(0))), w.mask_bits());
    switch (i.attributes.reduction) {
    case ir::BarrierReduction::Count:
        return w.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, yes);
    case ir::BarrierReduction::Or:
        return w.b.CreateZExt(w.b.CreateICmpNE(yes, w.i32(0)), w.b.getInt32Ty());
    default: // And: whether any lane voted no
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

/// Emits the call with which a fiber waits. `first`: the arguments before the barrier's number and
/// count, which are those of the warp's first lane; `part`: the warp's own operand.
void emit_wait(WarpEmitter &w, const ir::Instruction &i, std::string name,
               llvm::ArrayRef<llvm::Value *> first, llvm::function_ref<llvm::Value *()> part) {
    const ir::Value *count = ir::barrier_threads(i);
    const bool arrives = i.is(ir::Opcode::BarrierArrive);
    llvm::SmallVector<llvm::Value *, 6> arguments(first.begin(), first.end());
    arguments.push_back(w.of_first_active(ir::barrier_number(i)));
    arguments.push_back(count ? w.of_first_active(count) : w.i32(0));
    if (!arrives)
        arguments.push_back(part());
    arguments.push_back(w.kernel.code.text(w.kernel.plan.place(i)));
    llvm::SmallVector<llvm::Type *, 6> types;
    for (llvm::Value *argument : arguments)
        types.push_back(argument->getType());
    llvm::Type *result = arrives ? w.b.getVoidTy() : w.b.getInt32Ty();
    if (arrives)
        name += "_arrive";
    llvm::Value *total =
        w.b.CreateCall(w.kernel.code.runtime_function(name, result, types), arguments);
    if (i.is(ir::Opcode::BarrierReduce))
        w.define(i.result(), as_result(w, i, total));
}

} // namespace

void emit_fiber_barrier(WarpEmitter &w, const ir::Instruction &i) {
    emit_wait(w, i, "scu_barrier", {w.kernel.frame.invariants.worker},
              [&] { return i.is(ir::Opcode::BarrierReduce) ? reduce_warp(w, i) : w.i32(0); });
}

// The runtime adds up the votes of all lanes of the warp, at any position.
void emit_lane_barrier(WarpEmitter &w, const ir::Instruction &i) {
    emit_wait(w, i, "scu_lane_barrier", {w.kernel.frame.invariants.worker, w.lane_flow->state()},
              [&] { return w.i32(static_cast<std::uint32_t>(part_of(i))); });
}

// If the block is one warp, all arriving lanes are here, and it continues at once.
void emit_region_barrier(WarpEmitter &w, const ir::Instruction &i) {
    const bool waits = w.kernel.plan.has_regions();
    if (!waits)
        watch_pass(w.kernel, /*all=*/true);
    if (!i.is(ir::Opcode::BarrierReduce))
        return;
    llvm::Value *part = reduce_warp(w, i);
    if (!waits) {
        w.define(i.result(), as_result(w, i, part));
        return;
    }
    llvm::Value *sum = member(w, offsetof(rt::WorkerState, barrier_sum));
    w.b.CreateStore(w.b.CreateAdd(w.b.CreateLoad(w.b.getInt32Ty(), sum), part), sum);
}

void emit_yield(WarpEmitter &w) {
    llvm::FunctionCallee yield =
        w.kernel.code.runtime_function("scu_yield", w.b.getVoidTy(), {w.b.getPtrTy()});
    w.b.CreateCall(yield, {w.kernel.frame.invariants.worker});
}

void emit_pause(WarpEmitter &w, std::uint32_t work) {
    llvm::FunctionCallee pause = w.kernel.code.runtime_function("scu_pause", w.b.getVoidTy(),
                                                                {w.b.getPtrTy(), w.b.getInt32Ty()});
    w.b.CreateCall(pause, {w.kernel.frame.invariants.worker, w.i32(work)});
}

void emit_preemption_point(WarpEmitter &w, const ir::Instruction &i) {
    const auto &points = w.kernel.plan.waits.preemption_points;
    const auto point = points.find(&i);
    if (point == points.end() || !w.kernel.plan.lanes.places.empty()) // there, a place ends
        return;
    llvm::FunctionCallee preempt = w.kernel.code.runtime_function(
        "scu_preempt", w.b.getVoidTy(), {w.b.getPtrTy(), w.b.getInt32Ty()});
    w.b.CreateCall(preempt, {w.kernel.frame.invariants.worker, w.i32(point->second)});
}

llvm::Value *emit_barrier_result(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Value *total =
        w.b.CreateLoad(w.b.getInt32Ty(), member(w, offsetof(rt::WorkerState, barrier_result)));
    return as_result(w, i, total);
}

} // namespace softcuda::codegen
