// lane_flow.cpp -- control flow in the tier lanes, place by place.
//
//     dispatch:  place = scu_next_place(...)         the runtime selects a place, and lanes there
//                switch place
//     a:         ... under those lanes' mask ...     a block of the kernel
//                waiting[b] |= mask & p              its lanes continue at other places
//                waiting[c] |= mask & not p
//                goto dispatch
//
// The places, and the lanes' next places, are planned (warp/lane_plan.h). Values stay in memory
// between places, and a lane changes only its own part of them.

#include "codegen/lane_flow.h"

#include "codegen/counts.h"
#include "codegen/edges.h"
#include "codegen/warp_families.h"
#include "rt/kernel_abi.h"

namespace softcuda::codegen {

using ir::Opcode;
using rt::LaneState;

namespace {

std::uint8_t kind_at(const warp::Place &place) { return static_cast<std::uint8_t>(place.kind); }

std::uint8_t point_at(const warp::Place &place) { return static_cast<std::uint8_t>(place.point); }

std::uint8_t exchange_at(const warp::Place &place) {
    if (!place.exchange)
        throw Unsupported("this redux operation is not supported", *place.awaited());
    return static_cast<std::uint8_t>(*place.exchange);
}

} // namespace

LaneFlow::LaneFlow(WarpEmitter &w, llvm::BasicBlock *done)
    : w_(w), b_(w.b), kernel_(w.kernel), plan_(w.kernel.plan.lanes), done_(done) {
    if (kernel_.plan.request.calls_apart && !kernel_.plan.function.kernel)
        for (const warp::Place &place : plan_.places)
            if (place.exchange == rt::Exchange::Matrix)
                throw Unsupported("a matrix product in a function that each lane of a warp runs by "
                                  "itself, because lanes wait for each other in functions that are "
                                  "not inlined, is not supported",
                                  *place.awaited());
}

void LaneFlow::emit() {
    for (const warp::Place &place : plan_.places)
        places_.push_back(w_.new_block(place.block->name + (place.awaited() ? ".exchange" : "")));
    make_state();
    go_to(0, w_.active);
    if (!kernel_.plan.function.kernel)
        enter_function(w_);
    dispatch_ = w_.new_block("dispatch");
    w_.clear_slots_before(b_.CreateBr(dispatch_));
    b_.SetInsertPoint(dispatch_);
    llvm::FunctionCallee next = kernel_.code.runtime_function("scu_next_place", b_.getInt32Ty(),
                                                              {b_.getPtrTy(), b_.getPtrTy()});
    llvm::Value *place = b_.CreateCall(next, {kernel_.frame.invariants.worker, state_});
    llvm::SwitchInst *choice = b_.CreateSwitch(place, done_, static_cast<unsigned>(places_.size()));
    for (std::uint32_t number = 0; number < places_.size(); ++number)
        choice->addCase(b_.getInt32(number), places_[number]);
    for (std::uint32_t number = 0; number < places_.size(); ++number)
        emit_place(number);
}

llvm::Value *LaneFlow::member(std::size_t offset) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), state_, offset);
}

llvm::Value *LaneFlow::make_table(const char *name, std::uint8_t (*of)(const warp::Place &place)) {
    std::vector<std::uint8_t> by_place;
    for (const warp::Place &place : plan_.places)
        by_place.push_back(of(place));
    return kernel_.code.own_constant(llvm::ConstantDataArray::get(w_.context, by_place), name);
}

void LaneFlow::make_state() {
    const std::uint64_t count = plan_.places.size();
    auto array = [&](const char *name) {
        llvm::Value *made =
            kernel_.frame.stack_slot(llvm::ArrayType::get(b_.getInt32Ty(), count), name);
        b_.CreateMemSet(made, b_.getInt8(0), 4 * count, llvm::Align(4));
        return made;
    };
    waiting_ = array("waiting");
    llvm::Value *since = array("since");
    state_ = kernel_.frame.stack_slot(
        llvm::ArrayType::get(b_.getInt64Ty(), (sizeof(LaneState) + 7) / 8), "lane.state");
    b_.CreateMemSet(state_, b_.getInt8(0), sizeof(LaneState), llvm::Align(8));
    b_.CreateStore(waiting_, member(offsetof(LaneState, waiting)));
    b_.CreateStore(since, member(offsetof(LaneState, since)));
    b_.CreateStore(make_table("kinds", kind_at), member(offsetof(LaneState, kinds)));
    b_.CreateStore(make_table("exchanges", exchange_at), member(offsetof(LaneState, exchanges)));
    b_.CreateStore(make_table("points", point_at), member(offsetof(LaneState, points)));
    b_.CreateStore(b_.getInt32(static_cast<std::uint32_t>(count)),
                   member(offsetof(LaneState, places)));
}

void LaneFlow::begin_place(std::uint32_t number) {
    w_.forget_values();
    b_.SetInsertPoint(places_[number]);
    w_.set_mask(w_.mask_from_bits(
        b_.CreateLoad(b_.getInt32Ty(), member(offsetof(LaneState, mask)), "mask")));
    w_.show_mask();
}

void LaneFlow::go_to(std::uint32_t place, llvm::Value *lanes) {
    llvm::Value *at = b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), waiting_, place);
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), at), w_.bits_of(lanes)), at);
}

void LaneFlow::emit_place(std::uint32_t number) {
    const warp::Place &place = plan_.places[number];
    begin_place(number);
    if (kernel_.counts && plan_.of_block[place.block->id] == number)
        kernel_.counts->enter(place.block);
    for (const ir::Instruction *i : place.instructions()) {
        if (i == place.block->terminator())
            break;
        w_.fetch_from_here();
        if (i != place.awaited() || !place.receives()) {
            w_.emit_instruction(*i);
            continue;
        }
        if (place.is_call()) {
            take_call_results(w_, *i);
            continue;
        }
        w_.begin_instruction(*i);
        receive_results(*i);
    }
    w_.fetch_from_here();
    if (place.ends_block())
        leave_place(place);
    else
        pass_on(place.next.front());
}

// Lanes continue at a place of the same basic block. If they wait there, they store their operands
// of the instruction at which they wait.
void LaneFlow::pass_on(std::uint32_t number) {
    const warp::Place &place = plan_.places[number];
    if (place.is_call()) {
        w_.begin_instruction(*place.awaited());
        emit_calls_of_lanes(w_, *place.awaited(), number);
    } else {
        if (place.awaited())
            store_operands(place, *place.awaited());
        go_to(number, w_.mask());
    }
    b_.CreateBr(dispatch_);
}

llvm::AllocaInst *LaneFlow::call_area(const ir::Instruction &call) {
    llvm::AllocaInst *&area = call_areas_[&call];
    if (!area)
        area = make_call_area(w_, call);
    return area;
}

void LaneFlow::store_operands(const warp::Place &place, const ir::Instruction &awaited) {
    llvm::Value *named = place.named
                             ? w_.full(place.named)
                             : llvm::Constant::getAllOnesValue(with_lanes(b_.getInt32Ty(), kLanes));
    b_.CreateMaskedStore(named, member(offsetof(LaneState, members)), llvm::Align(4), w_.mask());
    if (awaited.is(Opcode::BarrierReduce))
        send_vote(awaited);
    if (place.receives())
        send_operands(awaited);
}

void LaneFlow::send_vote(const ir::Instruction &barrier) {
    llvm::Value *at = member(offsetof(LaneState, votes));
    llvm::Value *others =
        b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), at), b_.CreateNot(w_.mask_bits()));
    llvm::Value *votes = b_.CreateAnd(w_.bits_of(w_.full(barrier.operand(0))), w_.mask_bits());
    b_.CreateStore(b_.CreateOr(others, votes), at);
}

// Lanes at other places have already stored theirs.
void LaneFlow::send_operands(const ir::Instruction &i) {
    auto leave = [&](const ir::Value *value, std::size_t offset, llvm::Type *element) {
        llvm::Value *all = w_.full(value);
        llvm::Type *bits = with_lanes(b_.getIntNTy(ir::bits(value->type)), kLanes);
        all = b_.CreateZExt(b_.CreateBitCast(all, bits), with_lanes(element, kLanes));
        b_.CreateMaskedStore(all, member(offset), llvm::Align(4), w_.mask());
    };
    if (i.is(Opcode::WarpBarrier) || i.is(Opcode::ElectOne))
        return;
    leave(i.operand(0), offsetof(LaneState, sent), b_.getInt64Ty());
    if (!i.is(Opcode::Shuffle))
        return;
    leave(i.operand(1), offsetof(LaneState, source), b_.getInt32Ty());
    leave(i.operand(2), offsetof(LaneState, control), b_.getInt32Ty());
}

void LaneFlow::receive_results(const ir::Instruction &i) {
    if (i.results.empty())
        return;
    const ir::Value *result = i.result(0);
    llvm::Value *all = b_.CreateAlignedLoad(with_lanes(b_.getInt64Ty(), kLanes),
                                            member(offsetof(LaneState, received)), llvm::Align(8));
    all = b_.CreateTrunc(all, with_lanes(b_.getIntNTy(ir::bits(result->type)), kLanes));
    w_.define_full(result, b_.CreateBitCast(all, w_.type(result->type, kLanes)));
    if (i.results.size() > 1)
        w_.define_full(i.result(1), w_.mask_from_bits(b_.CreateLoad(
                                        b_.getInt32Ty(), member(offsetof(LaneState, valid)))));
}

void LaneFlow::drop_lanes(llvm::Value *bits) {
    w_.set_mask(b_.CreateAnd(w_.mask(), b_.CreateNot(w_.mask_from_bits(bits))));
    llvm::BasicBlock *left = w_.new_block("left");
    b_.CreateCondBr(w_.any(w_.mask()), left, dispatch_);
    b_.SetInsertPoint(left);
    w_.show_mask();
    w_.fetch_from_here();
}

void LaneFlow::leave_place(const warp::Place &place) {
    const ir::Instruction &end = *place.block->terminator();
    const warp::BlockFlow &flow = kernel_.plan.masks.of(place.block);
    if (kernel_.counts)
        kernel_.counts->add(w_, end);
    if (end.is(Opcode::Return))
        emit_results(w_, end);
    if (end.is(Opcode::Exit) && !kernel_.plan.function.kernel)
        emit_end(w_, w_.mask_bits());
    const auto masks =
        flow.parts ? edge_masks(w_, place.block) : llvm::SmallVector<llvm::Value *, 4>{w_.mask()};
    for (std::size_t i = 0; i < flow.edges.size(); ++i) {
        join_values(w_, flow.edges[i], masks[i]);
        go_to(place.next[i], masks[i]);
    }
    b_.CreateBr(dispatch_);
}

void emit_lane_flow(WarpEmitter &w, llvm::BasicBlock *done, const BarrierExit &) {
    LaneFlow flow(w, done);
    w.lane_flow = &flow;
    flow.emit();
    w.lane_flow = nullptr;
}

} // namespace softcuda::codegen
