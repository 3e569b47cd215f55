// emit_function.cpp -- calls of functions that are not inlined (ir/call_graph.h), and alloca.
//
// A function is called for a warp, with the mask of the calling lanes:
//
//     function(frame, worker, block, warp, mask, depth, area)
//
// `area` is an array of 32 lanes for each argument, then for each result. Registers are saved on
// the warp's own stack, as in any program. Local variables are in the thread's local memory, after
// those of the callers: `depth` is their start, and each function checks that there is enough
// memory. It is the same for all lanes: after the end of the lane that has allocated most with
// alloca.

#include "codegen/lane_flow.h"
#include "codegen/warp_families.h"
#include "rt/lane_call_abi.h"

#include <algorithm>

namespace softcuda::codegen {

namespace {

constexpr std::uint64_t kAreaBytes = 8 * kLanes; // of one argument or result
const llvm::Align kAreaAlign(64);

llvm::Value *in_area(WarpEmitter &w, llvm::Value *area, std::size_t number) {
    return w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), area, number * kAreaBytes);
}

// After the results: the lanes that ended in the function.
llvm::Value *ended_in(WarpEmitter &w, llvm::Value *area, const ir::Function &function) {
    return in_area(w, area, function.arguments.size() + function.returns.size());
}

llvm::Value *callee_depth(WarpEmitter &w) {
    llvm::Value *depth = w.i64(w.kernel.plan.frame_bytes);
    if (w.kernel.frame.invariants.depth)
        depth = w.b.CreateAdd(depth, w.kernel.frame.invariants.depth);
    llvm::AllocaInst *mark = w.kernel.frame.stack_mark();
    if (!mark)
        return depth;
    llvm::Value *taken = w.b.CreateAdd(w.b.CreateLoad(w.b.getInt64Ty(), mark), w.i64(15));
    return w.b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, depth,
                                     w.b.CreateAnd(taken, ~std::uint64_t{15}));
}

Lanes take_argument(WarpEmitter &w, std::size_t number) {
    const ir::Value *argument = w.kernel.plan.function.arguments[number];
    const analysis::Shape &shape = w.shape(argument); // of one group if the block has one thread
    llvm::Value *taken =
        w.b.CreateAlignedLoad(w.type(argument->type, shape.groups),
                              in_area(w, w.kernel.frame.invariants.call_area, number), kAreaAlign);
    return {.base = taken, .shape = shape};
}

void emit_depth_check(WarpEmitter &w) {
    const KernelPlan &plan = w.kernel.plan;
    if (plan.function.local_bytes == 0)
        return;
    llvm::BasicBlock *full = w.new_block("overflow"), *fine = w.new_block("room");
    llvm::Value *most = w.i64(plan.local_stride - plan.frame_bytes);
    w.branch_rarely(w.b.CreateICmpUGT(w.kernel.frame.invariants.depth, most), full, fine);
    w.b.SetInsertPoint(full);
    emit_fault(w, rt::Fault::StackOverflow);
    w.b.CreateUnreachable();
    w.b.SetInsertPoint(fine);
}

bool calls_functions(const ir::Function &function) {
    return std::ranges::any_of(function.blocks, [](const ir::Block *block) {
        return std::ranges::any_of(
            block->instructions, [](const ir::Instruction *i) { return i->is(ir::Opcode::Call); });
    });
}

} // namespace

// A function that calls functions may be a loop by recursion.
void enter_function(WarpEmitter &w) {
    w.set_mask(w.active);
    emit_depth_check(w);
    for (std::size_t i = 0; i < w.kernel.plan.function.arguments.size(); ++i)
        w.store(w.kernel.plan.function.arguments[i], take_argument(w, i));
    if (calls_functions(w.kernel.plan.function))
        emit_pause(w, 1);
}

llvm::AllocaInst *make_call_area(WarpEmitter &w, const ir::Instruction &i) {
    llvm::AllocaInst *area = w.kernel.frame.stack_slot(
        llvm::ArrayType::get(w.b.getInt8Ty(),
                             kAreaBytes * (i.operands.size() + i.results.size() + 1)),
        "call");
    area->setAlignment(kAreaAlign);
    return area;
}

void emit_call(WarpEmitter &w, const ir::Instruction &i) {
    const Invariants &known = w.kernel.frame.invariants;
    llvm::AllocaInst *area = make_call_area(w, i);
    llvm::Value *ended = in_area(w, area, i.operands.size() + i.results.size());
    const bool may_end = w.kernel.plan.request.may_end_in(i.attributes.symbol);
    if (may_end)
        w.b.CreateStore(w.i32(0), ended);
    std::size_t number = 0;
    for (const ir::Value *argument : i.operands)
        w.b.CreateAlignedStore(w.full(argument), in_area(w, area, number++), kAreaAlign);
    w.b.CreateCall(w.kernel.declare_function(i.attributes.symbol),
                   {known.frame, known.worker, known.launch_index, w.warp, w.mask_bits(),
                    callee_depth(w), area});
    for (const ir::Value *result : i.results)
        w.define_full(result,
                      w.b.CreateLoad(w.type(result->type, kLanes), in_area(w, area, number++)));
    if (!may_end)
        return;
    llvm::Value *gone = w.b.CreateLoad(w.b.getInt32Ty(), ended);
    if (!w.kernel.plan.function.kernel)
        emit_end(w, gone);
    w.lane_flow->drop_lanes(gone); // such a caller runs in the tier lanes (choose_tier.cpp)
}

// Other lanes may be in this call: their arguments and results stay.
void emit_calls_of_lanes(WarpEmitter &w, const ir::Instruction &i, std::uint32_t place) {
    const Invariants &known = w.kernel.frame.invariants;
    llvm::AllocaInst *area = w.lane_flow->call_area(i);
    std::size_t number = 0;
    for (const ir::Value *argument : i.operands) {
        llvm::Value *at = in_area(w, area, number++), *all = w.full(argument);
        llvm::Value *others = w.b.CreateAlignedLoad(all->getType(), at, kAreaAlign);
        w.b.CreateAlignedStore(w.b.CreateSelect(w.mask(), all, others), at, kAreaAlign);
    }
    llvm::Value *ended = in_area(w, area, i.operands.size() + i.results.size());
    w.b.CreateStore(
        w.b.CreateAnd(w.b.CreateLoad(w.b.getInt32Ty(), ended), w.b.CreateNot(w.mask_bits())),
        ended);
    llvm::AllocaInst *call =
        w.kernel.frame.call_slot(llvm::ArrayType::get(w.b.getInt64Ty(), sizeof(rt::LaneCall) / 8));
    auto set = [&](std::size_t offset, llvm::Value *value) {
        w.b.CreateStore(value, w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), call, offset));
    };
    set(offsetof(rt::LaneCall, function), w.kernel.declare_function(i.attributes.symbol));
    set(offsetof(rt::LaneCall, frame), known.frame);
    set(offsetof(rt::LaneCall, block), known.launch_index);
    set(offsetof(rt::LaneCall, depth), callee_depth(w));
    set(offsetof(rt::LaneCall, area), area);
    set(offsetof(rt::LaneCall, ended), ended);
    set(offsetof(rt::LaneCall, warp), w.warp);
    set(offsetof(rt::LaneCall, place), w.i32(place));
    llvm::Type *pointer = w.b.getPtrTy();
    llvm::FunctionCallee start = w.kernel.code.runtime_function(
        "scu_call_lanes", w.b.getVoidTy(), {pointer, pointer, pointer, w.b.getInt32Ty()});
    w.b.CreateCall(start, {known.worker, w.lane_flow->state(), call, w.mask_bits()});
}

void take_call_results(WarpEmitter &w, const ir::Instruction &i) {
    llvm::AllocaInst *area = w.lane_flow->call_area(i);
    std::size_t number = i.operands.size();
    for (const ir::Value *result : i.results)
        w.define_full(result,
                      w.b.CreateLoad(w.type(result->type, kLanes), in_area(w, area, number++)));
}

// The caller determines the ended lanes when the others have returned.
void emit_end(WarpEmitter &w, llvm::Value *lanes) {
    llvm::Value *at = ended_in(w, w.kernel.frame.invariants.call_area, w.kernel.plan.function);
    w.b.CreateStore(w.b.CreateOr(w.b.CreateLoad(w.b.getInt32Ty(), at), lanes), at);
}

// Lanes may return from several instructions, one after another.
void emit_results(WarpEmitter &w, const ir::Instruction &end) {
    std::size_t number = w.kernel.plan.function.arguments.size();
    for (const ir::Value *result : end.operands) {
        llvm::Value *at = in_area(w, w.kernel.frame.invariants.call_area, number++);
        llvm::Value *all = w.full(result);
        llvm::Value *old = w.b.CreateAlignedLoad(all->getType(), at, kAreaAlign);
        w.b.CreateAlignedStore(w.b.CreateSelect(w.mask(), all, old), at, kAreaAlign);
    }
}

void emit_alloca(WarpEmitter &w, const ir::Instruction &i) {
    auto everywhere = [&](std::uint64_t value) { return repeat(w.b, w.i64(value), 1, kLanes); };
    const std::uint64_t align = i.attributes.immediate, room = w.kernel.plan.local_stride;
    llvm::Value *bytes = w.full(i.operand(1));
    llvm::Value *address = w.b.CreateAnd(w.b.CreateAdd(w.full(i.operand(0)), everywhere(align - 1)),
                                         everywhere(~(align - 1)));
    llvm::Value *end = w.b.CreateAdd(address, bytes);
    llvm::Value *none = w.b.CreateOr(w.b.CreateICmpUGT(bytes, everywhere(room)),
                                     w.b.CreateICmpUGT(end, everywhere(room)));
    llvm::BasicBlock *full = w.new_block("overflow"), *fine = w.new_block("room");
    w.branch_rarely(w.any(w.b.CreateAnd(none, w.mask())), full, fine);
    w.b.SetInsertPoint(full);
    emit_fault(w, rt::Fault::StackOverflow);
    w.b.CreateUnreachable();
    w.b.SetInsertPoint(fine);
    w.define_full(i.result(0), address);
    w.define_full(i.result(1), end);
    llvm::AllocaInst *mark = w.kernel.frame.stack_mark();
    llvm::Value *most = w.b.CreateIntMaxReduce(w.b.CreateSelect(w.mask(), end, everywhere(0)));
    w.b.CreateStore(w.b.CreateBinaryIntrinsic(llvm::Intrinsic::umax,
                                              w.b.CreateLoad(w.b.getInt64Ty(), mark), most),
                    mark);
}

} // namespace softcuda::codegen
