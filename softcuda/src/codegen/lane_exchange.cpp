// lane_exchange.cpp -- what lanes leave for an exchange, and what they find when they have met.
#include "codegen/warp_emitter.h"
#include "rt/kernel_abi.h"

#include <cstddef>

namespace softcuda::codegen {

using ir::Opcode;
using rt::LaneState;

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
