// region_memory.cpp -- saves and loads values at barriers. Masks and predicates are stored as bits.
#include "codegen/region_memory.h"

#include "codegen/warp_emitter.h"

namespace softcuda::codegen {

namespace {

bool is_mask(const llvm::Type *type) { return type->getScalarType()->isIntegerTy(1); }

} // namespace

void RegionMemory::keep(const warp::Fetch &fetch, const Lanes &value) {
    ScratchMemory &scratch = w_.kernel.scratch;
    if (fetch.from == warp::Fetch::From::Block) {
        w_.kernel.block_values.store(fetch.value, value.base);
        return;
    }
    store(scratch.value_key(fetch.value, 0), value.base);
    if (value.shape.checked) {
        store(scratch.value_key(fetch.value, 1), value.wrapped);
        store(scratch.value_key(fetch.value, 2), value.correction);
    }
}

Lanes RegionMemory::fetch(const warp::Fetch &fetch) {
    ScratchMemory &scratch = w_.kernel.scratch;
    const ir::Value *value = fetch.value;
    Lanes kept{.shape = w_.shape(value)};
    if (fetch.from == warp::Fetch::From::Block) {
        kept.base = w_.kernel.block_values.load(value);
        return kept;
    }
    kept.base = load(scratch.value_key(value, 0), w_.type(value->type, kept.shape.groups));
    if (kept.shape.checked) {
        kept.wrapped = load(scratch.value_key(value, 1), w_.b.getInt1Ty());
        kept.correction = load(scratch.value_key(value, 2), w_.type(value->type, kLanes));
    }
    return kept;
}

void RegionMemory::keep_mask(const ir::Block *owner, llvm::Value *mask) {
    store(w_.kernel.scratch.mask_key(owner), mask);
}

llvm::Value *RegionMemory::fetch_mask(const ir::Block *owner) {
    return load(w_.kernel.scratch.mask_key(owner), with_lanes(w_.b.getInt1Ty(), kLanes));
}

void RegionMemory::store(std::uint32_t key, llvm::Value *value) {
    if (is_mask(value->getType())) {
        value = w_.bits_of(value);
        value = w_.b.CreateZExt(value, w_.b.getInt32Ty());
    }
    const std::uint64_t bytes =
        w_.kernel.code.module.getDataLayout().getTypeStoreSize(value->getType());
    const ScratchSlot at = w_.kernel.scratch.slot(key, bytes);
    w_.kernel.scopes.mark_scratch(
        w_.b.CreateAlignedStore(value, w_.kernel.scratch.address(at, w_.warp), llvm::Align(4)));
}

llvm::Value *RegionMemory::load(std::uint32_t key, llvm::Type *type) {
    llvm::Type *stored = is_mask(type) ? w_.b.getInt32Ty() : type;
    const ScratchSlot at =
        w_.kernel.scratch.slot(key, w_.kernel.code.module.getDataLayout().getTypeStoreSize(stored));
    llvm::Value *value = w_.kernel.scopes.mark_scratch(
        w_.b.CreateAlignedLoad(stored, w_.kernel.scratch.address(at, w_.warp), llvm::Align(4)));
    if (!is_mask(type))
        return value;
    const unsigned lanes =
        type->isVectorTy() ? llvm::cast<llvm::FixedVectorType>(type)->getNumElements() : 1;
    return w_.mask_from_bits(value, lanes);
}

} // namespace softcuda::codegen
