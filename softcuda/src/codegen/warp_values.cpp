// warp_values.cpp -- the memory of a warp's values.

#include "codegen/warp_emitter.h"
#include "codegen/warp_families.h"
#include "vector_math/elementwise.h"

#include <utility>

namespace softcuda::codegen {

using ir::Opcode;

const analysis::Shape &WarpEmitter::shape(const ir::Value *value) const {
    static constexpr analysis::Shape kUniform{.groups = 1};
    return value->constant ? kUniform : kernel.plan.divergence.of(value);
}

Lanes WarpEmitter::lanes(const ir::Value *value) {
    if (value->constant)
        return {.base = constant(context, *value), .shape = shape(value)};
    if (auto found = here_.find(value->id); found != here_.end())
        return found->second;
    // Loaded where the present instruction starts, so that the rest of the block may use it: not
    // earlier, because a register would be occupied, and not later, because the block's end sets
    // phis again.
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    if (fetch_block_)
        b.SetInsertPoint(fetch_block_, fetch_after_ ? std::next(fetch_after_->getIterator())
                                                    : fetch_block_->begin());
    Lanes found = warp::is_rematerialized(value) ? rematerialize(value) : load(value);
    // The next loaded value may be computed from this one.
    if (fetch_block_ && b.GetInsertPoint() != fetch_block_->begin())
        fetch_after_ = &*std::prev(b.GetInsertPoint());
    return here_[value->id] = found;
}

llvm::Value *WarpEmitter::scalar(const ir::Value *value) { return lanes(value).base; }

llvm::Value *WarpEmitter::full(const ir::Value *value) { return all_lanes(b, lanes(value)); }

llvm::Value *WarpEmitter::firsts(const ir::Value *value, unsigned groups) {
    return first_lanes(b, lanes(value), groups);
}

llvm::Value *WarpEmitter::of_first_active(const ir::Value *value) {
    if (shape(value).uniform())
        return scalar(value);
    llvm::Value *lane = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask_bits(), b.getTrue());
    return b.CreateExtractElement(full(value), lane);
}

llvm::Value *WarpEmitter::with_hardware_nan(const ir::Value *value, llvm::Value *lanes) {
    return kernel.plan.float_bits.may_be_new_nan(*value) ? vector_math::canonicalize_nan(b, lanes)
                                                         : lanes;
}

void WarpEmitter::define(const ir::Value *value, llvm::Value *base) {
    // Emitters return results that are one number for all active lanes; in the lane tier those of
    // other lanes may differ.
    unsigned groups = shape(value).groups;
    if (groups > 1 && !base->getType()->isVectorTy())
        base = repeat(b, base, 1, groups);
    else if (groups == 1 && base->getType()->isVectorTy()) // the block has one thread
        base = b.CreateExtractElement(base, std::uint64_t{0});
    define(value, Lanes{.base = base, .shape = shape(value)});
}

void WarpEmitter::define(const ir::Value *value, const Lanes &result) {
    here_[value->id] = result;
    if (recomputing_ || !kernel.plan.outlives_block[value->id])
        return;
    if (kernel.plan.masks.independent_lanes && result.shape.divergent())
        blend(value, result, mask_);
    else
        store(value, result);
}

void WarpEmitter::define_full(const ir::Value *value, llvm::Value *all) {
    unsigned groups = shape(value).groups;
    if (groups == 1) {
        all = b.CreateExtractElement(all, std::uint64_t{0});
    } else if (groups < kLanes) {
        llvm::SmallVector<int, kLanes> from;
        for (unsigned lane = 0; lane < kLanes; lane += kLanes / groups)
            from.push_back(static_cast<int>(lane));
        all = b.CreateShuffleVector(all, from);
    }
    define(value, all);
}

// Active lanes pass their value to the others of their group, at twice the distance each time.
void WarpEmitter::define_active(const ir::Value *value, llvm::Value *all) {
    const unsigned size = kLanes / shape(value).groups;
    llvm::Value *known = mask_;
    for (unsigned distance = 1; distance < size && !mask_is_full(); distance *= 2) {
        llvm::SmallVector<int, kLanes> partner;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            partner.push_back(static_cast<int>(lane ^ distance));
        all = b.CreateSelect(known, all, b.CreateShuffleVector(all, partner));
        known = b.CreateOr(known, b.CreateShuffleVector(known, partner));
    }
    define_full(value, all);
}

namespace {

// Otherwise LLVM would turn it into a register, with a phi for each place of the program.
void keep_in_memory(llvm::AllocaInst *slot) {
    llvm::IRBuilder<> behind(slot->getNextNode());
    auto *type = llvm::FunctionType::get(behind.getVoidTy(), {behind.getPtrTy()}, false);
    behind.CreateCall(llvm::InlineAsm::get(type, "", "r,~{memory}", true), {slot});
}

} // namespace

WarpEmitter::Slot &WarpEmitter::slot(const ir::Value *value) {
    Slot &at = slots_[value->id];
    if (!at.base) {
        const analysis::Shape &s = shape(value);
        at.base = kernel.frame.stack_slot(type(value->type, s.groups));
        if (kernel.plan.masks.independent_lanes)
            keep_in_memory(at.base);
        if (s.checked) {
            at.wrapped = kernel.frame.stack_slot(b.getInt1Ty());
            at.correction = kernel.frame.stack_slot(type(value->type, kLanes));
        }
        if (kernel.plan.masks.starts_zero[value->id]) {
            llvm::IRBuilder<>::InsertPointGuard guard(b);
            b.SetInsertPoint(prologue_);
            b.SetCurrentDebugLocation(kernel.code.lines.nowhere());
            clear(at);
        }
    }
    return at;
}

// A value that no side of a join has defined yet must be some number: LLVM may do anything with an
// undefined one.
void WarpEmitter::clear(const Slot &at) {
    for (llvm::AllocaInst *place : {at.base, at.wrapped, at.correction})
        if (place)
            b.CreateStore(llvm::Constant::getNullValue(place->getAllocatedType()), place);
}

void WarpEmitter::store(const ir::Value *value, const Lanes &lanes) {
    Slot &at = slot(value);
    b.CreateStore(lanes.base, at.base);
    if (at.wrapped) {
        b.CreateStore(lanes.wrapped, at.wrapped);
        b.CreateStore(lanes.correction, at.correction);
    }
}

void WarpEmitter::blend(const ir::Value *value, Lanes lanes, llvm::Value *lanes_mask) {
    const Slot &at = slot(value);
    llvm::Value *old = b.CreateLoad(at.base->getAllocatedType(), at.base);
    lanes.base = b.CreateSelect(lanes_mask, lanes.base, old);
    store(value, lanes);
}

void WarpEmitter::fetch_from_here() {
    fetch_block_ = b.GetInsertBlock();
    fetch_after_ = fetch_block_->empty() ? nullptr : &fetch_block_->back();
}

Lanes WarpEmitter::load(const ir::Value *value) {
    if (warp::is_recomputed(kernel.plan, value))
        return recompute(value);
    if (const auto fetched = read_only_.find(value->id); fetched != read_only_.end())
        return region_memory.fetch(*fetched->second);
    Slot &at = slot(value);
    Lanes found{.shape = shape(value)};
    found.base = b.CreateLoad(at.base->getAllocatedType(), at.base);
    if (at.wrapped) {
        found.wrapped = b.CreateLoad(b.getInt1Ty(), at.wrapped);
        found.correction = b.CreateLoad(at.correction->getAllocatedType(), at.correction);
    }
    return found;
}

// Computed at the use; LLVM merges several of them and hoists the result out of the loops.
Lanes WarpEmitter::rematerialize(const ir::Value *value) {
    const ir::Instruction &i = *value->definition;
    if (i.is(Opcode::Undef))
        return {.base = llvm::Constant::getNullValue(type(value->type)), .shape = shape(value)};
    return emit_special(*this, i, *value);
}

Lanes WarpEmitter::recompute(const ir::Value *value) {
    const bool outer = std::exchange(recomputing_, true);
    emit_instruction(*value->definition);
    recomputing_ = outer;
    return here_.at(value->id);
}

} // namespace softcuda::codegen
