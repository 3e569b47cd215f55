// packed_store.cpp -- packs the active lanes in registers with compress instructions, or stores
// them in a loop.
//
// The form of the compress instructions that writes to memory is not used: it takes over a hundred
// cycles on a Zen 4.
#include "codegen/packed_store.h"

#include "codegen/equal_places.h"
#include "target/code/instructions.h"

namespace softcuda::codegen {

namespace {

/// The value in the first active lane; in the last lane if there is none.
llvm::Value *in_first_active(WarpEmitter &w, llvm::Value *all) {
    llvm::Value *some = w.b.CreateOr(w.mask_bits(), 1u << (kLanes - 1));
    llvm::Value *lane = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, some, w.b.getTrue());
    return w.b.CreateExtractElement(all, lane);
}

/// The place that the first active lane accesses.
llvm::Value *first_place(WarpEmitter &w, const Address &address) {
    Address first = address;
    first.lanes.shape = analysis::Shape{.groups = 1};
    if (address.index)
        first.lanes.base =
            w.b.CreateMul(w.b.CreateSExt(in_first_active(w, address.index), w.b.getInt64Ty()),
                          w.i64(address.scale));
    else
        first.lanes.base = in_first_active(w, all_lanes(w.b, address.lanes));
    return group_pointer(w, first, 0);
}

/// Stores the active lanes of `values` from `start` on.
void compress(WarpEmitter &w, llvm::Value *start, llvm::Value *values, unsigned bits) {
    const unsigned size = w.kernel.code.target.facts().register_bits / bits;
    llvm::Type *element = w.b.getIntNTy(bits);
    for (unsigned lane = 0; lane < kLanes; lane += size) {
        llvm::Value *active = lane_range(w.b, w.mask(), lane, size);
        llvm::Value *part = lane_range(w.b, values, lane, size);
        llvm::Value *packed = target::compress(w.b, part, active);
        llvm::Value *count = w.b.CreateUnaryIntrinsic(
            llvm::Intrinsic::ctpop, w.b.CreateZExt(w.bits_of(active), w.b.getInt32Ty()));
        llvm::Value *filled = w.b.CreateNot(w.b.CreateShl(w.i32(~0u), count));
        w.b.CreateMaskedStore(packed, start, llvm::Align(1), w.mask_from_bits(filled, size));
        start = w.b.CreateGEP(element, start, w.b.CreateZExt(count, w.b.getInt64Ty()));
    }
}

/// The same, lane by lane.
void store_each(WarpEmitter &w, llvm::Value *start, llvm::Value *values, unsigned bits) {
    llvm::Type *element = w.b.getIntNTy(bits), *wide = w.b.getInt64Ty();
    llvm::Value *array = w.spill(values), *place = w.kernel.frame.call_slot(w.b.getPtrTy());
    w.b.CreateStore(start, place);
    w.for_each_lane(w.mask_bits(), [&](llvm::Value *lane) {
        llvm::Value *from = w.b.CreateGEP(element, array, w.b.CreateZExt(lane, wide));
        llvm::Value *to = w.b.CreateLoad(w.b.getPtrTy(), place);
        w.b.CreateAlignedStore(w.b.CreateLoad(element, from), to, llvm::Align(1));
        w.b.CreateStore(w.b.CreateConstGEP1_64(element, to, 1), place);
    });
}

} // namespace

bool may_pack(const WarpEmitter &w, const Address &address, unsigned count) {
    return !w.mask_is_full() && !w.kernel.plan.wants_short_code && count == 1 &&
           (address.bytes == 4 || address.bytes == 8);
}

llvm::Value *turns_out_packed(WarpEmitter &w, const Address &address) {
    llvm::Value *all = address.index ? address.index : all_lanes(w.b, address.lanes);
    const unsigned step = address.index ? address.bytes / address.scale : address.bytes;
    llvm::Value *distances =
        w.b.CreateMul(w.b.CreateZExt(lanes_before(w, w.mask_bits()), all->getType()),
                      llvm::ConstantInt::get(all->getType(), step));
    llvm::Value *wanted =
        w.b.CreateAdd(w.b.CreateVectorSplat(kLanes, in_first_active(w, all)), distances);
    llvm::Value *differs = w.b.CreateAnd(w.b.CreateICmpNE(all, wanted), w.mask());
    return w.b.CreateNot(w.any(differs));
}

void store_packed(WarpEmitter &w, const Address &address, llvm::Value *values) {
    llvm::Value *start = first_place(w, address);
    const unsigned bits = address.bytes * 8;
    values = w.b.CreateBitCast(values, with_lanes(w.b.getIntNTy(bits), kLanes));
    if (w.kernel.code.target.facts().compresses)
        compress(w, start, values, bits);
    else
        store_each(w, start, values, bits);
}

} // namespace softcuda::codegen
