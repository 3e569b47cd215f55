// warp_emitter.cpp -- masks of a warp, and helper functions of its emitters.

#include "codegen/warp_emitter.h"

#include "codegen/debug_frame.h"

#include <optional>

namespace softcuda::codegen {

WarpEmitter::WarpEmitter(KernelEmitter &owner, unsigned region, llvm::Value *warp_number,
                         llvm::Value *active_lanes)
    : kernel(owner), context(owner.code.context), b(owner.builder), warp(warp_number),
      active(active_lanes), region_memory(*this), number_(region),
      region_(owner.plan.regions[region]) {}

void WarpEmitter::show_mask() {
    if (DebugFrame *debugger = kernel.debug_frame())
        debugger->set_mask(*this, mask_);
}

llvm::Constant *WarpEmitter::known_mask(const warp::LanesByWarp &lanes) {
    std::optional<std::uint32_t> known = warp::in_all_warps(lanes);
    if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(warp); number && !lanes.empty())
        known = lanes[number->getZExtValue()];
    if (!known)
        return nullptr;
    llvm::SmallVector<llvm::Constant *, kLanes> bits;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        bits.push_back(b.getInt1((*known >> lane & 1) != 0));
    return llvm::ConstantVector::get(bits);
}

llvm::Value *WarpEmitter::bits_of(llvm::Value *lanes_mask) {
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(lanes_mask->getType());
    return vector ? b.CreateBitCast(lanes_mask, b.getIntNTy(vector->getNumElements())) : lanes_mask;
}

llvm::Value *WarpEmitter::mask_bits() { return bits_of(mask_); }

llvm::Value *WarpEmitter::any(llvm::Value *lanes_mask) {
    llvm::Value *bits = bits_of(lanes_mask);
    return b.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()), "any");
}

llvm::Value *WarpEmitter::mask_from_bits(llvm::Value *bits, unsigned lanes) {
    bits = b.CreateTrunc(bits, b.getIntNTy(lanes));
    return lanes == 1 ? bits : b.CreateBitCast(bits, with_lanes(b.getInt1Ty(), lanes));
}

bool WarpEmitter::mask_is_full() const {
    auto *known = llvm::dyn_cast<llvm::Constant>(mask_);
    return known && known->isAllOnesValue();
}

llvm::BasicBlock *WarpEmitter::new_block(const llvm::Twine &name) {
    return llvm::BasicBlock::Create(context, name, b.GetInsertBlock()->getParent());
}

llvm::ConstantInt *WarpEmitter::i32(std::uint32_t value) { return b.getInt32(value); }
llvm::ConstantInt *WarpEmitter::i64(std::uint64_t value) { return b.getInt64(value); }

llvm::Value *WarpEmitter::spill(llvm::Value *vector) {
    llvm::AllocaInst *at = kernel.frame.stack_slot(vector->getType(), "spill");
    b.CreateStore(vector, at);
    return at;
}

void WarpEmitter::for_each_lane(llvm::Value *bits,
                                const std::function<void(llvm::Value *lane)> &body) {
    llvm::BasicBlock *before = b.GetInsertBlock();
    llvm::BasicBlock *loop = new_block("lane");
    llvm::BasicBlock *after = new_block("lanes.done");
    b.CreateCondBr(b.CreateICmpNE(bits, i32(0)), loop, after);
    b.SetInsertPoint(loop);
    llvm::PHINode *left = b.CreatePHI(b.getInt32Ty(), 2, "lanes.left");
    left->addIncoming(bits, before);
    llvm::Value *lane = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue());
    body(lane);
    llvm::Value *rest = b.CreateAnd(left, b.CreateSub(left, i32(1)));
    left->addIncoming(rest, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpNE(rest, i32(0)), loop, after);
    b.SetInsertPoint(after);
}

void WarpEmitter::branch_rarely(llvm::Value *condition, llvm::BasicBlock *rare,
                                llvm::BasicBlock *usual) {
    llvm::MDNode *weights = llvm::MDBuilder(context).createBranchWeights(1, 1 << 20);
    b.CreateCondBr(condition, rare, usual, weights);
}

} // namespace softcuda::codegen
