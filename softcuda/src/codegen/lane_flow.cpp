// lane_flow.cpp -- control flow in the lane tier: each lane has a place in the program of its own.
//
//     dispatch:  place = scu_next_place(...)         the runtime chooses a place, and lanes there
//                switch place
//     a:         ... under those lanes' mask ...     a block of the kernel
//                waiting[b] |= mask & p              its lanes go to other places
//                waiting[c] |= mask & not p
//                goto dispatch
//
// Every block is a place. So is every exchange between lanes and every barrier: there lanes wait
// for others, and the rest of the block follows when they are complete. Values are kept in memory
// from place to place, and a lane changes its own part of them only.

#include "codegen/counts.h"
#include "codegen/debug_frame.h"
#include "codegen/lane_exchange.h"
#include "codegen/warp_emitter.h"
#include "codegen/warp_families.h"
#include "codegen/watch.h"
#include "ir/dominators.h"
#include "ir/exchange.h"
#include "rt/kernel_abi.h"

#include <cstddef>

namespace softcuda::codegen {

using ir::Opcode;
using rt::LaneState;
using rt::PlaceKind;

namespace {

PlaceKind kind_of(const ir::Instruction &i) {
    if (!ir::waits_for_lanes(i))
        return PlaceKind::Plain;
    return ir::is_block_barrier(i) ? PlaceKind::Barrier : PlaceKind::Members;
}

} // namespace

void WarpEmitter::add_place(PlaceKind kind, rt::Exchange exchange, const llvm::Twine &name) {
    kinds_.push_back(static_cast<std::uint8_t>(kind));
    exchanges_.push_back(static_cast<std::uint8_t>(exchange));
    places_.push_back(new_block(name));
}

void WarpEmitter::number_places(const std::vector<ir::Block *> &order) {
    for (const ir::Block *block : order) {
        place_of_block_[block] = static_cast<std::uint32_t>(places_.size());
        add_place(PlaceKind::Plain, rt::Exchange::Meet, block->name);
        for (const ir::Instruction *i : block->instructions)
            if (PlaceKind kind = kind_of(*i); kind != PlaceKind::Plain) {
                place_of_exchange_[i] = static_cast<std::uint32_t>(places_.size());
                add_place(kind, kind == PlaceKind::Members ? exchange_of(*i) : rt::Exchange::Meet,
                          block->name + ".exchange");
            }
    }
}

llvm::Value *WarpEmitter::lane_member(std::size_t offset) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), lane_state_, offset);
}

void WarpEmitter::make_lane_state(std::uint32_t entry_place) {
    std::uint64_t count = places_.size();
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
    auto table = [&](const std::vector<std::uint8_t> &by_place, const char *name) {
        llvm::Constant *bytes = llvm::ConstantDataArray::get(context, by_place);
        return new llvm::GlobalVariable(kernel.module, bytes->getType(), true,
                                        llvm::GlobalValue::PrivateLinkage, bytes, name);
    };
    b.CreateStore(waiting_, lane_member(offsetof(LaneState, waiting)));
    b.CreateStore(since, lane_member(offsetof(LaneState, since)));
    b.CreateStore(table(kinds_, "kinds"), lane_member(offsetof(LaneState, kinds)));
    b.CreateStore(table(exchanges_, "exchanges"), lane_member(offsetof(LaneState, exchanges)));
    b.CreateStore(i32(static_cast<std::uint32_t>(count)), lane_member(offsetof(LaneState, places)));
    go_to_place(entry_place, active_);
}

void WarpEmitter::emit_lanes() {
    const std::vector<ir::Block *> order = ir::reverse_postorder(kernel.plan.function);
    number_places(order);
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
    for (const ir::Block *block : order)
        emit_lane_block(block);
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

void WarpEmitter::emit_lane_block(const ir::Block *block) {
    begin_place(place_of_block_.at(block));
    if (kernel.counts)
        kernel.counts->enter(block);
    for (const ir::Instruction *i : block->instructions) {
        if (i == block->terminator())
            break;
        fetch_from_here();
        const auto found = place_of_exchange_.find(i);
        if (found != place_of_exchange_.end())
            wait_for_members(*i, found->second);
        if (ir::is_exchange(*i))
            watch_meeting(*this, *i);
        if (found != place_of_exchange_.end() && receives_result(*i))
            receive_exchange(*i);
        else
            emit_instruction(*i);
        emit_preemption_point(*this, *i);
    }
    fetch_from_here();
    if (kernel.counts)
        kernel.counts->add(*this, *block->terminator());
    leave_lanes(block);
}

void WarpEmitter::wait_for_members(const ir::Instruction &exchange, std::uint32_t place) {
    const ir::Value *named =
        ir::is_block_barrier(exchange) ? ir::barrier_number(exchange) : ir::members_of(exchange);
    llvm::Value *members =
        named ? full(named) : llvm::Constant::getAllOnesValue(with_lanes(b.getInt32Ty(), kLanes));
    b.CreateMaskedStore(members, lane_member(offsetof(LaneState, members)), llvm::Align(4), mask_);
    if (exchange.is(Opcode::BarrierReduce)) {
        llvm::Value *at = lane_member(offsetof(LaneState, votes));
        llvm::Value *others =
            b.CreateAnd(b.CreateLoad(b.getInt32Ty(), at), b.CreateNot(mask_bits()));
        llvm::Value *votes = b.CreateAnd(bits_of(full(exchange.operand(0))), mask_bits());
        b.CreateStore(b.CreateOr(others, votes), at);
    }
    if (receives_result(exchange))
        send_exchange(exchange);
    go_to_place(place, mask_);
    b.CreateBr(dispatch_);
    begin_place(place);
    fetch_from_here();
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

void WarpEmitter::leave_lanes(const ir::Block *block) {
    const ir::Instruction &end = *block->terminator();
    const warp::BlockFlow &flow = kernel.plan.masks.of(block);
    if (end.is(Opcode::Return))
        emit_results(*this, end);
    if (end.is(Opcode::Exit) && !kernel.plan.function.kernel)
        emit_end(*this, mask_bits());
    const auto masks = flow.parts ? edge_masks(block) : llvm::SmallVector<llvm::Value *, 4>{mask_};
    for (std::size_t i = 0; i < flow.edges.size(); ++i) {
        pass_edge(flow.edges[i], masks[i]);
        go_to_place(place_of_block_.at(flow.edges[i].to), masks[i]);
    }
    b.CreateBr(dispatch_);
}

} // namespace softcuda::codegen
