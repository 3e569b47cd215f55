// emit_call.cpp -- calls into the runtime: printf, assert, the device heap, traps.

#include "codegen/warp_families.h"
#include "codegen/watch.h"
#include "ir/trap.h"
#include "rt/kernel_abi.h"

namespace softcuda::codegen {

namespace {

// Calls a runtime function that takes (worker, frame, arguments...), with an array of 32 for each
// operand.
void call_runtime(WarpEmitter &w, llvm::StringRef name, std::vector<llvm::Value *> arguments) {
    arguments.insert(arguments.begin(),
                     {w.kernel.frame.invariants.worker, w.kernel.frame.invariants.frame});
    std::vector<llvm::Type *> types;
    for (llvm::Value *argument : arguments)
        types.push_back(argument->getType());
    w.b.CreateCall(w.kernel.code.runtime_function(name, w.b.getVoidTy(), types), arguments);
}

llvm::Value *array_of(WarpEmitter &w, const ir::Value *value) { return w.spill(w.full(value)); }

llvm::Value *room_for(WarpEmitter &w, const ir::Value *result) {
    return w.spill(llvm::Constant::getNullValue(w.type(result->type, kLanes)));
}

void take(WarpEmitter &w, const ir::Value *result, llvm::Value *array) {
    w.define_full(result, w.b.CreateLoad(w.type(result->type, kLanes), array));
}

} // namespace

void emit_printf(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Value *results = room_for(w, i.result());
    call_runtime(w, "scu_vprintf",
                 {array_of(w, i.operand(0)), array_of(w, i.operand(1)), w.mask_bits(), results});
    take(w, i.result(), results);
}

void emit_assertfail(WarpEmitter &w, const ir::Instruction &i) {
    call_runtime(w, "scu_assertfail",
                 {array_of(w, i.operand(0)), array_of(w, i.operand(1)), array_of(w, i.operand(2)),
                  array_of(w, i.operand(3)), w.mask_bits()});
}

// With a number, this is a call of the CUDA runtime in device code: see ir/lower_device_call.cpp.
void emit_malloc(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Value *results = room_for(w, i.result());
    if (const std::uint32_t number = i.attributes.immediate)
        call_runtime(w, "scu_device_call",
                     {w.i32(number - 1), array_of(w, i.operand(0)), w.mask_bits(), results});
    else
        call_runtime(w, "scu_malloc", {array_of(w, i.operand(0)), w.mask_bits(), results});
    take(w, i.result(), results);
}

void emit_free(WarpEmitter &w, const ir::Instruction &i) {
    watch_free(w, i);
    call_runtime(w, "scu_free", {array_of(w, i.operand(0)), w.mask_bits()});
}

void emit_fault(WarpEmitter &w, rt::Fault kind) {
    llvm::Value *lane =
        w.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, w.mask_bits(), w.b.getTrue());
    llvm::FunctionCallee fault = w.kernel.code.runtime_function(
        "scu_fault", w.b.getVoidTy(),
        {w.b.getPtrTy(), w.b.getInt32Ty(), w.b.getInt64Ty(), w.b.getInt32Ty()});
    w.b.CreateCall(fault, {w.kernel.frame.invariants.worker,
                           w.i32(static_cast<std::uint32_t>(kind)), w.i64(0), lane});
}

void emit_trap(WarpEmitter &w, const ir::Instruction &i) {
    switch (i.attributes.immediate) {
    case ir::kTrapNoFunction:
        return emit_fault(w, rt::Fault::NoFunction);
    case ir::kTrapNoInstruction:
        return emit_fault(w, rt::Fault::InvalidInstruction);
    default:
        return emit_fault(w, rt::Fault::Trap);
    }
}

// CUDA guarantees no minimum time; a fiber uses it best by letting others run.
void emit_fiber_sleep(WarpEmitter &w, const ir::Instruction &) { emit_yield(w); }

void emit_worker_sleep(WarpEmitter &w, const ir::Instruction &i) {
    llvm::FunctionCallee sleep =
        w.kernel.code.runtime_function("scu_nanosleep", w.b.getVoidTy(), {w.b.getInt32Ty()});
    // The warp sleeps for the longest time of its lanes.
    llvm::Value *all = w.full(i.operand(0));
    all = w.b.CreateSelect(w.mask(), all, llvm::Constant::getNullValue(all->getType()));
    w.b.CreateCall(sleep, {w.b.CreateIntMaxReduce(all)});
}

} // namespace softcuda::codegen
