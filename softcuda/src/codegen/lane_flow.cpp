// lane_flow.cpp -- control flow in the lane tier: each lane has a place in the program of its own.
//
//     dispatch:  place = scu_next_place(...)         the runtime chooses a place, and lanes there
//                switch place
//     a:         ... under those lanes' mask ...     a block of the kernel
//                waiting[b] |= mask & p              its lanes go to other places
//                waiting[c] |= mask & not p
//                goto dispatch
//
// Which places there are, and where lanes go on from each, is planned (warp/lane_plan.h). Values
// are kept in memory from place to place, and a lane changes its own part of them only.

#include "codegen/counts.h"
#include "codegen/debug_frame.h"
#include "codegen/warp_emitter.h"
#include "codegen/warp_families.h"
#include "codegen/watch.h"
#include "ir/exchange.h"
#include "rt/kernel_abi.h"

#include <cstddef>

namespace softcuda::codegen {

using ir::Opcode;
using rt::LaneState;

namespace {

rt::Exchange exchange_at(const warp::Place &place) {
    if (!place.exchange)
        throw Unsupported("this redux operation is not supported", *place.awaited());
    return *place.exchange;
}

} // namespace

llvm::Value *WarpEmitter::lane_member(std::size_t offset) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), lane_state_, offset);
}

void WarpEmitter::make_lane_state(std::uint32_t entry_place) {
    const std::vector<warp::Place> &places = kernel.plan.lanes.places;
    const std::uint64_t count = places.size();
    auto array = [&](const char *name) {
        llvm::Value *made = kernel.stack_slot(llvm::ArrayType::get(b.getInt32Ty(), count), name);
        b.CreateMemSet(made, b.getInt8(0), 4 * count, llvm::Align(4));
        return made;
    };
    waiting_ = array("waiting");
    llvm::Value *since = array("since");
    lane_state_ = kernel.stack_slot(
        llvm::ArrayType::get(b.getInt64Ty(), (sizeof(LaneState) + 7) / 8), "lane.state");
    b.CreateMemSet(lane_state_, b.getInt8(0), sizeof(LaneState), llvm::Align(8));
    auto table = [&](auto member, const char *name) {
        std::vector<std::uint8_t> by_place;
        for (const warp::Place &place : places)
            by_place.push_back(static_cast<std::uint8_t>(member(place)));
        llvm::Constant *bytes = llvm::ConstantDataArray::get(context, by_place);
        return new llvm::GlobalVariable(kernel.module, bytes->getType(), true,
                                        llvm::GlobalValue::PrivateLinkage, bytes, name);
    };
    b.CreateStore(waiting_, lane_member(offsetof(LaneState, waiting)));
    b.CreateStore(since, lane_member(offsetof(LaneState, since)));
    b.CreateStore(table([](const warp::Place &place) { return place.kind; }, "kinds"),
                  lane_member(offsetof(LaneState, kinds)));
    b.CreateStore(table(exchange_at, "exchanges"), lane_member(offsetof(LaneState, exchanges)));
    b.CreateStore(i32(static_cast<std::uint32_t>(count)), lane_member(offsetof(LaneState, places)));
    go_to_place(entry_place, active_);
}

void WarpEmitter::emit_lanes() {
    const std::vector<warp::Place> &places = kernel.plan.lanes.places;
    for (const warp::Place &place : places)
        places_.push_back(new_block(place.block->name + (place.awaited() ? ".exchange" : "")));
    make_lane_state(0);
    if (!kernel.plan.function.kernel)
        enter_function();
    llvm::BasicBlock *dispatch = new_block("dispatch");
    dispatch_ = dispatch;
    lane_prologue_ = b.CreateBr(dispatch);
    b.SetInsertPoint(dispatch);
    llvm::FunctionCallee next =
        kernel.runtime_function("scu_next_place", b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy()});
    llvm::Value *place = b.CreateCall(next, {kernel.invariants.worker, lane_state_});
    llvm::SwitchInst *choice = b.CreateSwitch(place, done_, static_cast<unsigned>(places_.size()));
    for (std::uint32_t number = 0; number < places_.size(); ++number)
        choice->addCase(i32(number), places_[number]);
    for (std::uint32_t number = 0; number < places.size(); ++number)
        emit_place(number);
}

void WarpEmitter::begin_place(std::uint32_t place) {
    here_.clear();
    b.SetInsertPoint(places_[place]);
    mask_ = mask_from_bits(
        b.CreateLoad(b.getInt32Ty(), lane_member(offsetof(LaneState, mask)), "mask"));
    if (DebugFrame *debugger = kernel.debug_frame())
        debugger->set_mask(*this, mask_);
}

void WarpEmitter::go_to_place(std::uint32_t place, llvm::Value *lanes) {
    llvm::Value *at = b.CreateConstInBoundsGEP1_64(b.getInt32Ty(), waiting_, place);
    b.CreateStore(b.CreateOr(b.CreateLoad(b.getInt32Ty(), at), bits_of(lanes)), at);
}

void WarpEmitter::emit_place(std::uint32_t number) {
    const warp::Place &place = kernel.plan.lanes.places[number];
    begin_place(number);
    if (kernel.counts && kernel.plan.lanes.of_block[place.block->id] == number)
        kernel.counts->enter(place.block);
    for (const ir::Instruction *i : place.instructions()) {
        if (i == place.block->terminator())
            break;
        fetch_from_here();
        if (ir::is_exchange(*i))
            watch_meeting(*this, *i);
        if (i == place.awaited() && place.receives())
            receive_exchange(*i);
        else
            emit_instruction(*i);
        emit_preemption_point(*this, *i);
    }
    fetch_from_here();
    if (place.ends_block())
        leave_place(place);
    else
        wait_at(place.next.front());
}

// Lanes leave what they bring to the instruction at which they wait.
void WarpEmitter::wait_at(std::uint32_t number) {
    const warp::Place &place = kernel.plan.lanes.places[number];
    llvm::Value *named = place.named
                             ? full(place.named)
                             : llvm::Constant::getAllOnesValue(with_lanes(b.getInt32Ty(), kLanes));
    b.CreateMaskedStore(named, lane_member(offsetof(LaneState, members)), llvm::Align(4), mask_);
    const ir::Instruction &awaited = *place.awaited();
    if (awaited.is(Opcode::BarrierReduce)) {
        llvm::Value *at = lane_member(offsetof(LaneState, votes));
        llvm::Value *others =
            b.CreateAnd(b.CreateLoad(b.getInt32Ty(), at), b.CreateNot(mask_bits()));
        llvm::Value *votes = b.CreateAnd(bits_of(full(awaited.operand(0))), mask_bits());
        b.CreateStore(b.CreateOr(others, votes), at);
    }
    if (place.receives())
        send_exchange(awaited);
    go_to_place(number, mask_);
    b.CreateBr(dispatch_);
}

void WarpEmitter::drop_lanes(llvm::Value *bits) {
    mask_ = b.CreateAnd(mask_, b.CreateNot(mask_from_bits(bits)));
    llvm::BasicBlock *left = new_block("left");
    b.CreateCondBr(any(mask_), left, dispatch_);
    b.SetInsertPoint(left);
    if (DebugFrame *debugger = kernel.debug_frame())
        debugger->set_mask(*this, mask_);
    fetch_from_here();
}

void WarpEmitter::leave_place(const warp::Place &place) {
    const ir::Instruction &end = *place.block->terminator();
    const warp::BlockFlow &flow = kernel.plan.masks.of(place.block);
    if (kernel.counts)
        kernel.counts->add(*this, end);
    if (end.is(Opcode::Return))
        emit_results(*this, end);
    if (end.is(Opcode::Exit) && !kernel.plan.function.kernel)
        emit_end(*this, mask_bits());
    const auto masks =
        flow.parts ? edge_masks(place.block) : llvm::SmallVector<llvm::Value *, 4>{mask_};
    for (std::size_t i = 0; i < flow.edges.size(); ++i) {
        pass_edge(flow.edges[i], masks[i]);
        go_to_place(place.next[i], masks[i]);
    }
    b.CreateBr(dispatch_);
}

} // namespace softcuda::codegen
