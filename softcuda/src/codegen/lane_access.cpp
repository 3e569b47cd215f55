// lane_access.cpp -- one access for each lane, without a branch.
#include "codegen/lane_access.h"

namespace softcuda::codegen {

namespace {

llvm::Value *addresses(WarpEmitter &w, const Address &address, unsigned extra) {
    llvm::Value *all = all_addresses(w, address);
    return extra == 0 ? all : w.b.CreateAdd(all, llvm::ConstantInt::get(all->getType(), extra));
}

/// Each lane's address; `elsewhere`, a pointer, in lanes that are not active.
llvm::Value *addresses_or(WarpEmitter &w, const Address &address, unsigned extra,
                          llvm::Value *elsewhere) {
    llvm::Value *all = addresses(w, address, extra);
    if (w.mask_is_full())
        return all;
    elsewhere = w.b.CreatePtrToInt(elsewhere, w.b.getInt64Ty());
    return w.b.CreateSelect(w.mask(), all, w.b.CreateVectorSplat(kLanes, elsewhere));
}

llvm::Value *place_of(WarpEmitter &w, llvm::Value *all, unsigned lane) {
    return w.b.CreateIntToPtr(w.b.CreateExtractElement(all, lane), w.b.getPtrTy());
}

} // namespace

namespace {

llvm::Value *gather_in_loop(WarpEmitter &w, const Address &address, llvm::Type *element,
                            unsigned extra) {
    llvm::Type *type = with_lanes(element, kLanes), *wide = w.b.getInt64Ty();
    llvm::Value *places = w.spill(addresses(w, address, extra));
    llvm::Value *values = w.spill(llvm::Constant::getNullValue(type));
    w.for_each_lane(w.mask_bits(), [&](llvm::Value *lane) {
        llvm::Value *at = w.b.CreateLoad(wide, w.b.CreateGEP(wide, places, lane));
        llvm::Value *loaded =
            w.b.CreateAlignedLoad(element, w.b.CreateIntToPtr(at, w.b.getPtrTy()), llvm::Align(1));
        w.b.CreateStore(loaded, w.b.CreateGEP(element, values, lane));
    });
    return w.b.CreateLoad(type, values);
}

void scatter_in_loop(WarpEmitter &w, const Address &address, llvm::Value *values, unsigned extra) {
    llvm::Type *element = values->getType()->getScalarType(), *wide = w.b.getInt64Ty();
    llvm::Value *places = w.spill(addresses(w, address, extra)), *array = w.spill(values);
    w.for_each_lane(w.mask_bits(), [&](llvm::Value *lane) {
        llvm::Value *at = w.b.CreateLoad(wide, w.b.CreateGEP(wide, places, lane));
        w.b.CreateAlignedStore(w.b.CreateLoad(element, w.b.CreateGEP(element, array, lane)),
                               w.b.CreateIntToPtr(at, w.b.getPtrTy()), llvm::Align(1));
    });
}

} // namespace

llvm::Value *gather_singly(WarpEmitter &w, const Address &address, llvm::Type *element,
                           unsigned extra) {
    if (w.kernel.plan.wants_short_code)
        return gather_in_loop(w, address, element, extra);
    llvm::Value *zero = w.kernel.code.constant(llvm::Constant::getNullValue(element), "zero");
    llvm::Value *all = addresses_or(w, address, extra, zero);
    llvm::Value *values = llvm::PoisonValue::get(with_lanes(element, kLanes));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        llvm::Value *loaded =
            w.b.CreateAlignedLoad(element, place_of(w, all, lane), llvm::Align(1));
        values = w.b.CreateInsertElement(values, loaded, lane);
    }
    return values;
}

// A word at a multiple of its size does not cross a page boundary.
llvm::Value *gather_from_words(WarpEmitter &w, const Address &address, llvm::Type *element,
                               unsigned extra) {
    auto &b = w.b;
    llvm::Type *words = with_lanes(b.getInt32Ty(), kLanes);
    llvm::Value *at = addresses(w, address, extra);
    llvm::Value *start = b.CreateAnd(at, llvm::ConstantInt::getSigned(at->getType(), -4));
    llvm::Value *loaded =
        b.CreateMaskedGather(words, b.CreateIntToPtr(start, with_lanes(b.getPtrTy(), kLanes)),
                             llvm::Align(4), w.mask(), llvm::Constant::getNullValue(words));
    llvm::Value *bits = b.CreateShl(b.CreateAnd(b.CreateTrunc(at, words), 3), 3);
    llvm::Type *narrow =
        with_lanes(b.getIntNTy(element->getPrimitiveSizeInBits().getFixedValue()), kLanes);
    return b.CreateBitCast(b.CreateTrunc(b.CreateLShr(loaded, bits), narrow),
                           with_lanes(element, kLanes));
}

void scatter_singly(WarpEmitter &w, const Address &address, llvm::Value *values, unsigned extra) {
    if (w.kernel.plan.wants_short_code)
        return scatter_in_loop(w, address, values, extra);
    llvm::Type *element = values->getType()->getScalarType();
    llvm::Value *all = addresses_or(w, address, extra, w.kernel.frame.call_slot(element));
    for (unsigned lane = 0; lane < kLanes; ++lane)
        w.b.CreateAlignedStore(w.b.CreateExtractElement(values, lane), place_of(w, all, lane),
                               llvm::Align(1));
}

} // namespace softcuda::codegen
