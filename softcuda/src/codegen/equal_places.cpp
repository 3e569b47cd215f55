// equal_places.cpp -- a loop over the addresses of a warp.
#include "codegen/equal_places.h"

namespace softcuda::codegen {

namespace {

/// Fewer lanes at the address of the first remaining one are a sign that most addresses differ.
constexpr unsigned kSeveral = 4;

} // namespace

void for_equal_places(WarpEmitter &w, const EqualPlaces &places) {
    auto &b = w.b;
    llvm::Value *active = w.mask_bits();
    llvm::BasicBlock *before = b.GetInsertBlock(), *loop = w.new_block("address");
    llvm::BasicBlock *several = w.new_block("together"), *few = w.new_block("alone");
    llvm::BasicBlock *done = w.new_block("addressed");
    b.CreateCondBr(b.CreateICmpNE(active, w.i32(0)), loop, done);
    b.SetInsertPoint(loop);
    llvm::PHINode *left = b.CreatePHI(b.getInt32Ty(), 2, "lanes.left");
    left->addIncoming(active, before);
    llvm::Value *lane = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue());
    llvm::Value *number = b.CreateVectorSplat(kLanes, places.number(lane));
    llvm::Value *same = b.CreateAnd(w.bits_of(b.CreateICmpEQ(places.numbers, number)), left);
    llvm::Value *count = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, same);
    b.CreateCondBr(b.CreateICmpUGE(count, w.i32(kSeveral)), several, few);
    b.SetInsertPoint(several);
    places.together(lane, same);
    llvm::Value *rest = b.CreateXor(left, same);
    left->addIncoming(rest, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpNE(rest, w.i32(0)), loop, done);
    b.SetInsertPoint(few);
    w.for_each_lane(left, places.alone);
    b.CreateBr(done);
    b.SetInsertPoint(done);
}

llvm::Value *lanes_before(WarpEmitter &w, llvm::Value *bits) {
    llvm::SmallVector<llvm::Constant *, kLanes> lower;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        lower.push_back(w.i32((1u << lane) - 1));
    llvm::Value *before =
        w.b.CreateAnd(w.b.CreateVectorSplat(kLanes, bits), llvm::ConstantVector::get(lower));
    return w.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, before);
}

} // namespace softcuda::codegen
