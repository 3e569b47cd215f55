// warp_emitter.cpp -- blocks, edges and masks: the plan of mask_plan.h turned into branches.

#include "codegen/warp_emitter.h"

#include "codegen/counts.h"
#include "codegen/debug_frame.h"
#include "codegen/source_lines.h"
#include "codegen/warp_families.h"

#include <algorithm>
#include <utility>

namespace softcuda::codegen {

using ir::Opcode;

WarpEmitter::WarpEmitter(KernelEmitter &owner, unsigned region, llvm::Value *warp_number,
                         llvm::Value *active, llvm::BasicBlock *done)
    : kernel(owner), context(owner.context), b(owner.builder), warp(warp_number), number_(region),
      region_(owner.plan.regions[region]), active_(active), done_(done) {}

void WarpEmitter::emit(const BarrierExit &at_barrier) {
    if (kernel.has_lanes())
        return emit_lanes();
    at_barrier_ = &at_barrier;
    // Slots that must start empty are cleared in the prologue, whose end is the region's first
    // block.
    prologue_ = b.GetInsertBlock();
    llvm::BasicBlock *start = new_block("region");
    b.SetInsertPoint(start);
    if (region_.barrier)
        enter_region();
    else if (!kernel.plan.function.kernel)
        enter_function();
    b.CreateBr(block_for(region_.entry));
    while (!work_.empty()) {
        const ir::Block *block = work_.back();
        work_.pop_back();
        emit_block(block);
    }
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(prologue_);
    b.SetCurrentDebugLocation(kernel.lines.nowhere());
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
    if (kernel.counts)
        kernel.counts->enter(block);
    for (const ir::Instruction *i : block->instructions) {
        if (i == block->terminator())
            break;
        fetch_from_here();
        emit_instruction(*i);
        emit_preemption_point(*this, *i);
    }
    fetch_from_here();
    if (kernel.counts)
        kernel.counts->add(*this, *block->terminator());
    leave(block);
}

// Takes over the lanes that came here, and goes on elsewhere if there are none.
void WarpEmitter::arrive(const ir::Block *block) {
    const warp::BlockMask &plan = kernel.plan.masks.of(block).mask;
    DebugFrame *debugger = kernel.debug_frame();
    if (debugger) // which lanes come is no line's business
        b.SetCurrentDebugLocation(kernel.lines.nowhere());
    if (plan.from == warp::BlockMask::From::Arrivals) {
        llvm::AllocaInst *arrivals = arrival_slot(block);
        mask_ = b.CreateLoad(arrivals->getAllocatedType(), arrivals, "mask");
        if (llvm::Constant *lanes = lanes_here(plan.lanes))
            mask_ = b.CreateAnd(active_, lanes);
        b.CreateStore(mask_, mask_slot(block));
        if (plan.clears)
            b.CreateStore(llvm::Constant::getNullValue(mask_->getType()), arrivals);
    } else {
        mask_ = mask_of(block);
    }
    if (plan.guarded) {
        llvm::BasicBlock *body = new_block(block->name + ".body");
        b.CreateCondBr(any(mask_), body, plan.skip_to ? block_for(plan.skip_to) : done_);
        b.SetInsertPoint(body);
    }
    if (debugger)
        debugger->set_mask(*this, mask_);
}

void WarpEmitter::leave(const ir::Block *block) {
    const warp::BlockFlow &flow = kernel.plan.masks.of(block);
    if (kernel.debug_frame())
        b.SetCurrentDebugLocation(kernel.lines.at(block->terminator()->location));
    if (kernel.has_fibers() && kernel.plan.yields_behind(block))
        emit_yield(*this);
    const auto end = std::ranges::find(region_.ends, block, &warp::RegionEnd::block);
    if (end != region_.ends.end()) {
        pass_edge(flow.edges[0], mask_);
        end_region(*end);
    } else if (flow.parts || flow.edges.empty()) {
        if (block->terminator()->is(Opcode::Return))
            emit_results(*this, *block->terminator());
        const auto masks = edge_masks(block);
        for (std::size_t i = 0; i < masks.size(); ++i)
            pass_edge(flow.edges[i], masks[i]);
        go_to(flow.next);
    } else {
        leave_uniform(block);
    }
}

void WarpEmitter::leave_uniform(const ir::Block *block) {
    const ir::Instruction &end = *block->terminator();
    const std::vector<warp::Edge> &edges = kernel.plan.masks.of(block).edges;
    if (edges.size() == 1) {
        pass_edge(edges[0], mask_);
        go_to(edges[0].next);
        return;
    }
    llvm::Value *condition = scalar(end.operand(0));
    std::vector<llvm::BasicBlock *> ways;
    for (std::size_t i = 0; i < edges.size(); ++i)
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
    for (std::size_t i = 0; i < edges.size(); ++i) {
        b.SetInsertPoint(ways[i]);
        pass_edge(edges[i], mask_);
        go_to(edges[i].next);
    }
}

// The lanes that take each edge of a block whose lanes may part.
llvm::SmallVector<llvm::Value *, 4> WarpEmitter::edge_masks(const ir::Block *block) {
    const ir::Instruction &end = *block->terminator();
    const std::vector<warp::Edge> &edges = kernel.plan.masks.of(block).edges;
    llvm::SmallVector<llvm::Value *, 4> masks(edges.size(), nullptr);
    if (edges.empty())
        return masks;
    llvm::Value *condition = full(end.operand(0));
    llvm::Value *rest = mask_;
    for (unsigned i = 0; i < block->successors().size(); ++i) {
        llvm::Value *taken = rest;
        if (end.is(Opcode::Branch))
            taken = i == 0 ? condition : b.CreateNot(condition);
        else if (i + 1 < block->successors().size())
            taken = b.CreateICmpEQ(condition, llvm::ConstantInt::get(condition->getType(), i));
        llvm::Value *lanes = b.CreateAnd(mask_, taken, "edge");
        if (end.is(Opcode::Switch))
            rest = b.CreateAnd(rest, b.CreateNot(taken));
        for (std::size_t k = 0; k < edges.size(); ++k)
            if (llvm::is_contained(edges[k].successors, i))
                masks[k] = masks[k] ? b.CreateOr(masks[k], lanes) : lanes;
    }
    return masks;
}

void WarpEmitter::go_to(const ir::Block *next) { b.CreateBr(next ? block_for(next) : done_); }

// Hands the lanes in `edge_mask` and what the target's phis take from here to the target.
void WarpEmitter::pass_edge(const warp::Edge &edge, llvm::Value *edge_mask) {
    std::vector<std::pair<const warp::Join *, Lanes>> copies; // all are read before any is written
    for (const warp::Join &join : edge.joins)
        if (join.how != warp::Join::How::Keep)
            copies.emplace_back(&join, lanes(join.value));
    for (auto &[join, incoming] : copies) {
        Lanes value = at_phi(join->phi, incoming);
        if (join->how == warp::Join::How::Blend) {
            Slot &at = slot(join->phi);
            llvm::Value *old = b.CreateLoad(at.base->getAllocatedType(), at.base);
            value.base = b.CreateSelect(edge_mask, value.base, old);
        }
        store(join->phi, value);
    }
    if (edge.arrive == warp::Edge::Arrive::Nothing)
        return;
    llvm::AllocaInst *arrivals = arrival_slot(edge.to);
    if (edge.arrive == warp::Edge::Arrive::Add)
        edge_mask = b.CreateOr(edge_mask, b.CreateLoad(arrivals->getAllocatedType(), arrivals));
    b.CreateStore(edge_mask, arrivals);
}

/// A value in the shape that a phi has.
Lanes WarpEmitter::at_phi(const ir::Value *phi, const Lanes &incoming) {
    const analysis::Shape &wanted = shape(phi);
    Lanes value{.base = wanted.checked ? refined_bases(b, incoming, wanted.groups)
                                       : first_lanes(b, incoming, wanted.groups),
                .shape = wanted};
    if (wanted.checked) {
        value.wrapped = incoming.wrapped ? incoming.wrapped : b.getFalse();
        value.correction = incoming.correction
                               ? incoming.correction
                               : llvm::Constant::getNullValue(type(phi->type, kLanes));
    }
    return value;
}

// Saves what is needed behind the barrier and leaves the region.
void WarpEmitter::end_region(const warp::RegionEnd &end) {
    const warp::Region &next = kernel.plan.regions[end.region];
    for (const warp::Fetch &fetch : next.fetches)
        if (llvm::is_contained(end.keeps, fetch.value))
            keep(fetch);
    for (const ir::Block *owner : end.masks)
        scratch_store(kernel.scratch_mask_id(owner), mask_of(owner));
    // The block behind takes its lanes from here: its own arrivals, or an owner's mask saved above.
    if (next.arrives) {
        llvm::AllocaInst *arrivals = arrival_slot(next.entry);
        scratch_store(kernel.scratch_mask_id(next.entry),
                      b.CreateLoad(arrivals->getAllocatedType(), arrivals));
    }
    (*at_barrier_)(end.region);
}

void WarpEmitter::enter_region() {
    llvm::Type *mask_type = active_->getType();
    for (const warp::Fetch &fetched : region_.fetches)
        if (fetched.set)
            store(fetched.value, fetch(fetched));
        else
            read_only_.emplace(fetched.value->id, &fetched);
    for (const ir::Block *owner : region_.masks)
        b.CreateStore(scratch_load(kernel.scratch_mask_id(owner), mask_type), mask_slot(owner));
    if (region_.arrives)
        b.CreateStore(scratch_load(kernel.scratch_mask_id(region_.entry), mask_type),
                      arrival_slot(region_.entry));
    const ir::Instruction &barrier = *region_.barrier;
    if (barrier.is(Opcode::BarrierReduce))
        store(barrier.result(),
              {.base = emit_barrier_result(*this, barrier), .shape = shape(barrier.result())});
}

void WarpEmitter::keep(const warp::Fetch &fetch) {
    const ir::Value *value = fetch.value;
    const Lanes kept = lanes(value);
    if (fetch.from == warp::Fetch::From::Block) {
        kernel.store_for_block(value, kept.base);
        return;
    }
    scratch_store(kernel.scratch_id(value, 0), kept.base);
    if (kept.shape.checked) {
        scratch_store(kernel.scratch_id(value, 1), kept.wrapped);
        scratch_store(kernel.scratch_id(value, 2), kept.correction);
    }
}

Lanes WarpEmitter::fetch(const warp::Fetch &fetch) {
    const ir::Value *value = fetch.value;
    Lanes kept{.shape = shape(value)};
    if (fetch.from == warp::Fetch::From::Block) {
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
        b.SetCurrentDebugLocation(kernel.lines.nowhere());
        b.CreateStore(llvm::Constant::getNullValue(active_->getType()), at);
    }
    return at;
}

// The lanes of a block that the warp has visited.
llvm::Value *WarpEmitter::mask_of(const ir::Block *block) {
    const warp::BlockMask &plan = kernel.plan.masks.of(block).mask;
    if (plan.from == warp::BlockMask::From::Active)
        return active_;
    if (llvm::Constant *lanes = lanes_here(plan.lanes))
        return b.CreateAnd(active_, lanes);
    if (plan.from == warp::BlockMask::From::Owner)
        return mask_of(plan.owner);
    llvm::AllocaInst *at = mask_slot(block);
    return b.CreateLoad(at->getAllocatedType(), at);
}

// Null where it is not known now.
llvm::Constant *WarpEmitter::lanes_here(const warp::LanesByWarp &lanes) {
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

} // namespace softcuda::codegen
