// warp_emitter.cpp -- blocks, edges and masks: the plan of schedule.h turned into branches.

#include "codegen/warp_emitter.h"

#include "codegen/harmless.h"
#include "codegen/warp_families.h"

#include <utility>

namespace softcuda::codegen {

using ir::Opcode;

WarpEmitter::WarpEmitter(KernelEmitter &owner, unsigned region, llvm::Value *warp_number,
                         llvm::Value *active, llvm::BasicBlock *done)
    : kernel(owner), context(owner.context), b(owner.builder), warp(warp_number), region_(region),
      active_(active), done_(done), carried_in_(owner.plan.function.value_count(), false) {}

void WarpEmitter::emit(const BarrierExit &at_barrier) {
    if (kernel.has_lanes())
        return emit_lanes();
    at_barrier_ = &at_barrier;
    // Slots that must start empty are cleared in the prologue, whose end is the region's first
    // block.
    prologue_ = b.GetInsertBlock();
    llvm::BasicBlock *start = new_block("region");
    b.SetInsertPoint(start);
    const ir::Block *first = kernel.region_entry(region_);
    if (region_ != 0)
        enter_region(first);
    else if (!kernel.plan.function.kernel)
        enter_function();
    b.CreateBr(block_for(first));
    while (!work_.empty()) {
        const ir::Block *block = work_.back();
        work_.pop_back();
        emit_block(block);
    }
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(prologue_);
    b.CreateBr(start);
}

void WarpEmitter::enter_function() {
    mask_ = active_;
    emit_depth_check(*this);
    for (std::size_t i = 0; i < kernel.plan.function.arguments.size(); ++i)
        store(kernel.plan.function.arguments[i], take_argument(*this, i));
}

llvm::BasicBlock *WarpEmitter::block_for(const ir::Block *block) {
    auto [it, added] = blocks_.try_emplace(block, nullptr);
    if (added) {
        it->second = new_block(block->name);
        work_.push_back(block);
    }
    return it->second;
}

void WarpEmitter::emit_block(const ir::Block *block) {
    here_.clear();
    b.SetInsertPoint(blocks_.at(block));
    arrive(block);
    for (const ir::Instruction *i : block->instructions) {
        if (i == block->terminator())
            break;
        fetch_from_here();
        emit_instruction(*i);
        emit_preemption_point(*this, *i);
    }
    fetch_from_here();
    leave(block);
}

// Takes over the lanes that came here, and goes on to the next pending block if there are none.
void WarpEmitter::arrive(const ir::Block *block) {
    const transform::BlockPlan &plan = kernel.plan.schedule.of(block);
    if (plan.mask_owner != block) {
        mask_ = owner_mask(plan.mask_owner);
        return;
    }
    if (block == kernel.plan.function.entry()) {
        mask_ = active_;
        return;
    }
    mask_ = b.CreateLoad(arrival_slot(block)->getAllocatedType(), arrival_slot(block), "mask");
    if (const auto known = known_arrivals_.find(block); known != known_arrivals_.end())
        mask_ = known->second;
    b.CreateStore(mask_, mask_slot(block));
    if (plan.waited)
        b.CreateStore(llvm::Constant::getNullValue(mask_->getType()), arrival_slot(block));
    if (!plan.guarded || (kernel.has_regions() && is_harmless(kernel, block)))
        return;
    llvm::BasicBlock *body = new_block(block->name + ".body");
    llvm::BasicBlock *skip = plan.pending.empty() ? done_ : block_for(plan.pending.front());
    b.CreateCondBr(any(mask_), body, skip);
    b.SetInsertPoint(body);
}

void WarpEmitter::leave(const ir::Block *block) {
    const transform::BlockPlan &plan = kernel.plan.schedule.of(block);
    const ir::Instruction &end = *block->terminator();
    std::span<ir::Block *const> targets = block->successors();
    if (kernel.has_fibers() && kernel.plan.yields_behind(block))
        emit_yield(*this);
    if (targets.empty()) {
        if (end.is(Opcode::Return))
            emit_results(*this, end);
        go_to(plan.next.front());
        return;
    }
    if (kernel.is_barrier_end(block)) {
        pass_edge(block, targets[0], mask_);
        end_region(targets[0]);
        return;
    }
    if (kernel.plan.divergence.divergent_branch[block->id]) {
        leave_divergent(block);
        return;
    }
    if (targets.size() == 1) {
        pass_edge(block, targets[0], mask_);
        go_to(plan.next[0]);
        return;
    }
    llvm::Value *condition = scalar(end.operand(0));
    std::vector<llvm::BasicBlock *> ways;
    for (std::size_t i = 0; i < targets.size(); ++i)
        ways.push_back(new_block(block->name + ".way"));
    if (end.is(Opcode::Branch)) {
        b.CreateCondBr(condition, ways[0], ways[1]);
    } else {
        // An index beyond the table goes to its last entry: PTX leaves it undefined.
        llvm::SwitchInst *choice = b.CreateSwitch(condition, ways.back());
        for (std::size_t i = 0; i + 1 < ways.size(); ++i)
            choice->addCase(
                llvm::cast<llvm::ConstantInt>(llvm::ConstantInt::get(condition->getType(), i)),
                ways[i]);
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
        b.SetInsertPoint(ways[i]);
        pass_edge(block, targets[i], mask_);
        go_to(plan.next[i]);
    }
}

void WarpEmitter::leave_divergent(const ir::Block *block) {
    const ir::Instruction &end = *block->terminator();
    std::span<ir::Block *const> targets = block->successors();
    llvm::Value *condition = full(end.operand(0));
    llvm::Value *rest = mask_;
    // The entries of a switch may share targets, each of which gets its lanes at once.
    llvm::SmallVector<std::pair<const ir::Block *, llvm::Value *>, 4> edges;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        llvm::Value *taken;
        if (end.is(Opcode::Branch))
            taken = i == 0 ? condition : b.CreateNot(condition);
        else if (i + 1 < targets.size())
            taken = b.CreateICmpEQ(condition, llvm::ConstantInt::get(condition->getType(), i));
        else
            taken = rest;
        llvm::Value *edge = b.CreateAnd(mask_, taken, "edge");
        if (end.is(Opcode::Switch))
            rest = b.CreateAnd(rest, b.CreateNot(taken));
        if (transform::only_exits(targets[i]))
            continue;
        auto known = llvm::find_if(edges, [&](auto &each) { return each.first == targets[i]; });
        if (known == edges.end())
            edges.emplace_back(targets[i], edge);
        else
            known->second = b.CreateOr(known->second, edge);
    }
    for (auto &[target, edge] : edges)
        pass_edge(block, target, edge);
    go_to(kernel.plan.schedule.of(block).next[0]);
}

void WarpEmitter::go_to(const ir::Block *next) { b.CreateBr(next ? block_for(next) : done_); }

// Hands the lanes in `edge_mask` and what the target's phis take from here to the target.
void WarpEmitter::pass_edge(const ir::Block *from, const ir::Block *to, llvm::Value *edge_mask) {
    const transform::BlockPlan &plan = kernel.plan.schedule.of(to);
    // However often lanes come by the only way there is, they are the same ones; but a warp may
    // look at the block without having come by it.
    if (auto *known = llvm::dyn_cast<llvm::Constant>(edge_mask);
        known && kernel.has_regions() && to->predecessors.size() == 1 &&
        kernel.plan.schedule.always_visits(from, to))
        known_arrivals_[to] = known;
    bool blend = kernel.has_lanes() || (plan.waited && !kernel.plan.loops.back_edge(from, to));
    std::vector<std::pair<const ir::Value *, Lanes>> copies;
    for (const ir::Instruction *phi : to->instructions) {
        if (!phi->is(Opcode::Phi))
            break;
        for (std::size_t i = 0; i < phi->blocks.size(); ++i)
            if (phi->blocks[i] == from) {
                // What is not defined is not written: other lanes' values may be there already,
                // in a scalar that the analysis has shared between them (divergence.cpp).
                if (is_undefined(phi->operands[i]))
                    clear_first(phi->result());
                else
                    copies.emplace_back(phi->result(), lanes(phi->operands[i]));
                break;
            }
    }
    for (auto &[result, incoming] : copies) {
        const analysis::Shape &wanted = shape(result);
        Lanes value{.base = wanted.checked ? refined_bases(b, incoming, wanted.groups)
                                           : first_lanes(b, incoming, wanted.groups),
                    .shape = wanted};
        if (wanted.checked) {
            value.wrapped = incoming.wrapped ? incoming.wrapped : b.getFalse();
            value.correction = incoming.correction
                                   ? incoming.correction
                                   : llvm::Constant::getNullValue(type(result->type, kLanes));
        }
        if (blend && wanted.divergent()) {
            Slot &at = slot(result);
            llvm::Value *old = b.CreateLoad(at.base->getAllocatedType(), at.base);
            value.base = b.CreateSelect(edge_mask, value.base, old);
        }
        store(result, value);
    }
    if (plan.mask_owner != to || kernel.has_lanes())
        return;
    llvm::AllocaInst *arrivals = arrival_slot(to);
    if (plan.waited)
        edge_mask = b.CreateOr(edge_mask, b.CreateLoad(arrivals->getAllocatedType(), arrivals));
    b.CreateStore(edge_mask, arrivals);
}

// So that a value which no side has defined yet is some number: LLVM may do anything with none.
void WarpEmitter::clear_first(const ir::Value *value) {
    if (!cleared_.insert(value->id).second)
        return;
    Slot &at = slot(value);
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    if (prologue_)
        b.SetInsertPoint(prologue_);
    else
        b.SetInsertPoint(lane_prologue_);
    auto clear = [&](llvm::AllocaInst *place) {
        if (place)
            b.CreateStore(llvm::Constant::getNullValue(place->getAllocatedType()), place);
    };
    clear(at.base);
    clear(at.wrapped);
    clear(at.correction);
}

// Saves what is needed behind the barrier and leaves the region.
void WarpEmitter::end_region(const ir::Block *behind) {
    unsigned region = kernel.region_behind(behind);
    const std::vector<bool> &live = kernel.live_into(region);
    const ir::Instruction *barrier = kernel.region_barrier(region);
    for (const ir::Block *block : kernel.plan.function.blocks) {
        for (const ir::Instruction *i : block->instructions)
            for (const ir::Value *value : i->results) {
                if (i == barrier || !live[value->id] || is_rematerialized(value))
                    continue; // the barrier's result is there when all warps have arrived
                if (!carried_in_[value->id]) // else it is there already
                    keep(value);
            }
        if (live[kernel.plan.mask_id(block)] && block != kernel.plan.function.entry())
            scratch_store(kernel.scratch_mask_id(block), owner_mask(block));
    }
    // The block behind takes its lanes from here: its own arrivals, or an owner's mask saved above.
    if (kernel.plan.schedule.of(behind).mask_owner == behind)
        scratch_store(kernel.scratch_mask_id(behind),
                      b.CreateLoad(arrival_slot(behind)->getAllocatedType(), arrival_slot(behind)));
    (*at_barrier_)(region);
}

void WarpEmitter::enter_region(const ir::Block *first) {
    const std::vector<bool> &live = kernel.live_into(region_);
    const std::vector<bool> redefined = blocks_of_region();
    const ir::Instruction *barrier = kernel.region_barrier(region_);
    llvm::Type *mask_type = active_->getType();
    for (const ir::Block *block : kernel.plan.function.blocks) {
        for (const ir::Instruction *i : block->instructions)
            for (const ir::Value *value : i->results) {
                if (i == barrier || !live[value->id] || is_rematerialized(value))
                    continue;
                if (redefined[block->id])
                    store(value, fetch(value));
                else
                    carried_in_[value->id] = true;
            }
        if (live[kernel.plan.mask_id(block)] && block != kernel.plan.function.entry())
            b.CreateStore(scratch_load(kernel.scratch_mask_id(block), mask_type), mask_slot(block));
    }
    if (kernel.plan.schedule.of(first).mask_owner == first)
        b.CreateStore(scratch_load(kernel.scratch_mask_id(first), mask_type), arrival_slot(first));
    if (barrier->is(Opcode::BarrierReduce))
        store(barrier->result(),
              {.base = emit_barrier_result(*this, *barrier), .shape = shape(barrier->result())});
}

std::vector<bool> WarpEmitter::blocks_of_region() const {
    std::vector<bool> found(kernel.plan.function.blocks.size(), false);
    std::vector<const ir::Block *> left;
    auto reach = [&](const ir::Block *block) {
        if (block && !found[block->id]) {
            found[block->id] = true;
            left.push_back(block);
        }
    };
    reach(kernel.region_entry(region_));
    while (!left.empty()) {
        const ir::Block *block = left.back();
        left.pop_back();
        const transform::BlockPlan &plan = kernel.plan.schedule.of(block);
        if (plan.guarded && !plan.pending.empty())
            reach(plan.pending.front());
        if (!kernel.is_barrier_end(block))
            for (const ir::Block *next : plan.next)
                reach(next);
    }
    return found;
}

void WarpEmitter::keep(const ir::Value *value) {
    if (kernel.is_recomputed(value))
        return;
    const Lanes kept = lanes(value);
    if (kernel.is_kept_for_block(value)) {
        kernel.store_for_block(value, kept.base);
        return;
    }
    scratch_store(kernel.scratch_id(value, 0), kept.base);
    if (kept.shape.checked) {
        scratch_store(kernel.scratch_id(value, 1), kept.wrapped);
        scratch_store(kernel.scratch_id(value, 2), kept.correction);
    }
}

Lanes WarpEmitter::fetch(const ir::Value *value) {
    if (kernel.is_recomputed(value))
        return recompute(value);
    Lanes kept{.shape = shape(value)};
    if (kernel.is_kept_for_block(value)) {
        kept.base = kernel.load_for_block(value);
        return kept;
    }
    kept.base = scratch_load(kernel.scratch_id(value, 0), type(value->type, kept.shape.groups));
    if (kept.shape.checked) {
        kept.wrapped = scratch_load(kernel.scratch_id(value, 1), b.getInt1Ty());
        kept.correction = scratch_load(kernel.scratch_id(value, 2), type(value->type, kLanes));
    }
    return kept;
}

Lanes WarpEmitter::recompute(const ir::Value *value) {
    const bool outer = std::exchange(recomputing_, true);
    emit_instruction(*value->definition);
    recomputing_ = outer;
    return here_.at(value->id);
}

void WarpEmitter::scratch_store(std::uint32_t id, llvm::Value *value) {
    if (value->getType()->getScalarType()->isIntegerTy(1)) {
        value = bits_of(value);
        value = b.CreateZExt(value, b.getInt32Ty());
    }
    std::uint64_t bytes = kernel.module.getDataLayout().getTypeStoreSize(value->getType());
    ScratchSlot at = kernel.scratch_slot(id, bytes);
    kernel.mark_scratch(
        b.CreateAlignedStore(value, kernel.scratch_address(at, warp), llvm::Align(4)));
}

llvm::Value *WarpEmitter::scratch_load(std::uint32_t id, llvm::Type *type) {
    bool mask = type->getScalarType()->isIntegerTy(1);
    llvm::Type *stored = mask ? b.getInt32Ty() : type;
    ScratchSlot at =
        kernel.scratch_slot(id, kernel.module.getDataLayout().getTypeStoreSize(stored));
    llvm::Value *value = kernel.mark_scratch(
        b.CreateAlignedLoad(stored, kernel.scratch_address(at, warp), llvm::Align(4)));
    if (!mask)
        return value;
    unsigned lanes =
        type->isVectorTy() ? llvm::cast<llvm::FixedVectorType>(type)->getNumElements() : 1;
    return mask_from_bits(value, lanes);
}

llvm::AllocaInst *WarpEmitter::mask_slot(const ir::Block *owner) {
    llvm::AllocaInst *&at = masks_[owner];
    if (!at)
        at = kernel.stack_slot(active_->getType(), "mask." + owner->name);
    return at;
}

llvm::AllocaInst *WarpEmitter::arrival_slot(const ir::Block *owner) {
    llvm::AllocaInst *&at = arrivals_[owner];
    if (!at) {
        at = kernel.stack_slot(active_->getType(), "arrivals." + owner->name);
        llvm::IRBuilder<>::InsertPointGuard guard(b);
        b.SetInsertPoint(prologue_);
        b.CreateStore(llvm::Constant::getNullValue(active_->getType()), at);
    }
    return at;
}

llvm::Value *WarpEmitter::owner_mask(const ir::Block *owner) {
    if (owner == kernel.plan.function.entry())
        return active_;
    llvm::AllocaInst *at = mask_slot(owner);
    return b.CreateLoad(at->getAllocatedType(), at);
}

} // namespace softcuda::codegen
