// lane_exchange.cpp -- what lanes leave for an exchange, and what they find when they have met.
#include "codegen/lane_exchange.h"

#include "codegen/supported.h"
#include "codegen/warp_emitter.h"
#include "ir/exchange.h"

#include <cstddef>

namespace softcuda::codegen {

using ir::Opcode;
using rt::Exchange;
using rt::LaneState;

namespace {

Exchange shuffle_of(ir::ShuffleMode mode) {
    switch (mode) {
    case ir::ShuffleMode::Up:
        return Exchange::ShuffleUp;
    case ir::ShuffleMode::Down:
        return Exchange::ShuffleDown;
    case ir::ShuffleMode::Butterfly:
        return Exchange::ShuffleButterfly;
    case ir::ShuffleMode::Index:
        break;
    }
    return Exchange::ShuffleIndex;
}

Exchange vote_of(ir::VoteMode mode) {
    switch (mode) {
    case ir::VoteMode::All:
        return Exchange::VoteAll;
    case ir::VoteMode::Any:
        return Exchange::VoteAny;
    case ir::VoteMode::Uniform:
        return Exchange::VoteUniform;
    case ir::VoteMode::Ballot:
        break;
    }
    return Exchange::Ballot;
}

Exchange reduction_of(const ir::Instruction &i) {
    const bool with_sign = ir::is_signed(i.attributes.type);
    if (!ir::is_floating(i.attributes.type))
        switch (i.attributes.atomic) {
        case ir::AtomicOp::Add:
            return Exchange::ReduceAdd;
        case ir::AtomicOp::And:
            return Exchange::ReduceAnd;
        case ir::AtomicOp::Or:
            return Exchange::ReduceOr;
        case ir::AtomicOp::Xor:
            return Exchange::ReduceXor;
        case ir::AtomicOp::Min:
            return with_sign ? Exchange::ReduceMinSigned : Exchange::ReduceMinUnsigned;
        case ir::AtomicOp::Max:
            return with_sign ? Exchange::ReduceMaxSigned : Exchange::ReduceMaxUnsigned;
        default:
            break;
        }
    throw Unsupported("this redux operation is not supported", i);
}

} // namespace

Exchange exchange_of(const ir::Instruction &i) {
    switch (i.opcode) {
    case Opcode::Shuffle:
        return shuffle_of(i.attributes.shuffle);
    case Opcode::Vote:
        return vote_of(i.attributes.vote);
    case Opcode::Match:
        return i.attributes.match == ir::MatchMode::Any ? Exchange::MatchAny : Exchange::MatchAll;
    case Opcode::WarpReduce:
        return reduction_of(i);
    case Opcode::ElectOne:
        return Exchange::Elect;
    case Opcode::Mma:
        return Exchange::Matrix;
    default:
        return Exchange::Meet;
    }
}

bool receives_result(const ir::Instruction &i) { return ir::is_exchange(i) && !i.is(Opcode::Mma); }

// Lanes that stand elsewhere have left theirs already.
void WarpEmitter::send_exchange(const ir::Instruction &i) {
    auto leave = [&](const ir::Value *value, std::size_t offset, llvm::Type *element) {
        llvm::Value *all = full(value);
        llvm::Type *bits = with_lanes(b.getIntNTy(ir::bits(value->type)), kLanes);
        all = b.CreateZExt(b.CreateBitCast(all, bits), with_lanes(element, kLanes));
        b.CreateMaskedStore(all, lane_member(offset), llvm::Align(4), mask_);
    };
    if (i.is(Opcode::WarpBarrier) || i.is(Opcode::ElectOne))
        return;
    leave(i.operand(0), offsetof(LaneState, sent), b.getInt64Ty());
    if (!i.is(Opcode::Shuffle))
        return;
    leave(i.operand(1), offsetof(LaneState, source), b.getInt32Ty());
    leave(i.operand(2), offsetof(LaneState, control), b.getInt32Ty());
}

void WarpEmitter::receive_exchange(const ir::Instruction &i) {
    if (i.results.empty())
        return;
    const ir::Value *result = i.result(0);
    llvm::Value *all =
        b.CreateAlignedLoad(with_lanes(b.getInt64Ty(), kLanes),
                            lane_member(offsetof(LaneState, received)), llvm::Align(8));
    all = b.CreateTrunc(all, with_lanes(b.getIntNTy(ir::bits(result->type)), kLanes));
    define_full(result, b.CreateBitCast(all, type(result->type, kLanes)));
    if (i.results.size() > 1)
        define_full(i.result(1), mask_from_bits(b.CreateLoad(
                                     b.getInt32Ty(), lane_member(offsetof(LaneState, valid)))));
}

} // namespace softcuda::codegen
