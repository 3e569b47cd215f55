// warp_values.cpp -- where a warp's values and masks are kept.

#include "codegen/source_lines.h"
#include "codegen/warp_emitter.h"
#include "codegen/warp_families.h"

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
    // Fetched where the present instruction starts, so that the rest of the block may use it: no
    // earlier, for a register would be occupied, and no later, for the block's end sets phis anew.
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    if (fetch_block_)
        b.SetInsertPoint(fetch_block_, fetch_after_ ? std::next(fetch_after_->getIterator())
                                                    : fetch_block_->begin());
    Lanes found = warp::is_rematerialized(value) ? rematerialize(value) : load(value);
    // What is fetched next may be made of this.
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

void WarpEmitter::define(const ir::Value *value, llvm::Value *base) {
    // Emitters know results that are one number for all active lanes; in the lane tier those of
    // other lanes may be different ones.
    unsigned groups = shape(value).groups;
    if (groups > 1 && !base->getType()->isVectorTy())
        base = repeat(b, base, 1, groups);
    define(value, Lanes{.base = base, .shape = shape(value)});
}

void WarpEmitter::define(const ir::Value *value, const Lanes &result) {
    here_[value->id] = result;
    if (recomputing_ || !kernel.plan.outlives_block[value->id])
        return;
    Lanes kept = result;
    if (kernel.plan.masks.independent_lanes && result.shape.divergent())
        kept.base = b.CreateSelect(mask_, result.base, load(value).base);
    store(value, kept);
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

// Active lanes hand their value to the others of their group, at twice the distance each time.
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

// Else LLVM would make a register of it, with a phi for each place of the program.
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
        at.base = kernel.stack_slot(type(value->type, s.groups));
        if (kernel.has_lanes())
            keep_in_memory(at.base);
        if (s.checked) {
            at.wrapped = kernel.stack_slot(b.getInt1Ty());
            at.correction = kernel.stack_slot(type(value->type, kLanes));
        }
        if (kernel.plan.masks.starts_zero[value->id])
            clear(at);
    }
    return at;
}

// A value that no side of a join has defined yet is some number: LLVM may do anything with none.
void WarpEmitter::clear(const Slot &at) {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    if (prologue_)
        b.SetInsertPoint(prologue_);
    else
        b.SetInsertPoint(lane_prologue_);
    b.SetCurrentDebugLocation(kernel.lines.nowhere());
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

void WarpEmitter::fetch_from_here() {
    fetch_block_ = b.GetInsertBlock();
    fetch_after_ = fetch_block_->empty() ? nullptr : &fetch_block_->back();
}

Lanes WarpEmitter::load(const ir::Value *value) {
    if (warp::is_recomputed(kernel.plan, value))
        return recompute(value);
    if (const auto fetched = read_only_.find(value->id); fetched != read_only_.end())
        return fetch(*fetched->second);
    Slot &at = slot(value);
    Lanes found{.shape = shape(value)};
    found.base = b.CreateLoad(at.base->getAllocatedType(), at.base);
    if (at.wrapped) {
        found.wrapped = b.CreateLoad(b.getInt1Ty(), at.wrapped);
        found.correction = b.CreateLoad(at.correction->getAllocatedType(), at.correction);
    }
    return found;
}

// Computed at the use; LLVM makes one of several and hoists it out of the loops.
Lanes WarpEmitter::rematerialize(const ir::Value *value) {
    const ir::Instruction &i = *value->definition;
    if (i.is(Opcode::Undef))
        return {.base = llvm::Constant::getNullValue(type(value->type)), .shape = shape(value)};
    return emit_special(*this, i, *value);
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
    llvm::AllocaInst *at = kernel.stack_slot(vector->getType(), "spill");
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
