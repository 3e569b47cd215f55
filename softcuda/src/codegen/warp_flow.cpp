// warp_flow.cpp -- a warp whose lanes run together, from block to block: turns the plan of
// mask_plan.h into branches, and that of region_plan.h into saves at barriers.

#include "codegen/counts.h"
#include "codegen/edges.h"
#include "codegen/warp_families.h"
#include "rt/kernel_abi.h"

#include <algorithm>
#include <map>
#include <vector>

namespace softcuda::codegen {

using ir::Opcode;

namespace {

/// Iterations of a loop without a bounded trip count after which other warps run: a microsecond or
/// more, so that the switch does not count.
constexpr std::uint32_t kIterationsPerPause = 2048;

class WarpFlow {
  public:
    WarpFlow(WarpEmitter &w, llvm::BasicBlock *done, const BarrierExit &at_barrier)
        : w_(w), b_(w.b), kernel_(w.kernel), plan_(w.kernel.plan), done_(done),
          at_barrier_(at_barrier) {}

    void emit();

  private:
    /// Code of a basic block: for some lanes, or for all.
    struct Version {
        const ir::Block *block;
        bool whole;
        friend auto operator<=>(const Version &, const Version &) = default;
    };

    void emit_block(const Version &version);
    [[nodiscard]] bool has_whole(const ir::Block *block) const;
    void start_waiting(const ir::Block *block);
    void arrive(const ir::Block *block);
    void arrive_whole(const ir::Block *block);
    void leave(const ir::Block *block);
    void leave_together(const ir::Block *block, llvm::ArrayRef<llvm::Value *> masks);
    void yield_behind(const ir::Block *block);
    void count_down();
    void leave_uniform(const ir::Block *block);
    void pass_edge(const warp::Edge &edge, llvm::Value *edge_mask);
    void go_to(const ir::Block *next, bool whole = false) {
        b_.CreateBr(next ? block_for(next, whole) : done_);
    }
    void enter_region();
    void end_region(const warp::RegionEnd &end);
    /// With `whole`, the version for all lanes if there is one.
    llvm::BasicBlock *block_for(const ir::Block *block, bool whole = false);
    llvm::AllocaInst *mask_slot(const ir::Block *owner);
    llvm::AllocaInst *arrival_slot(const ir::Block *owner);
    llvm::Value *mask_of(const ir::Block *block);
    /// Whether it has all lanes, an i1.
    llvm::Value *is_whole(llvm::Value *mask);

    WarpEmitter &w_;
    llvm::IRBuilder<> &b_;
    KernelEmitter &kernel_;
    const KernelPlan &plan_;
    llvm::BasicBlock *done_;
    const BarrierExit &at_barrier_;
    llvm::Instruction *prologue_ = nullptr; ///< slots are cleared before it
    llvm::AllocaInst *left_ = nullptr;      ///< iterations until other warps run
    std::map<const ir::Block *, llvm::AllocaInst *> masks_, arrivals_;
    std::map<Version, llvm::BasicBlock *> blocks_;
    std::vector<Version> work_;
};

void WarpFlow::emit() {
    llvm::BasicBlock *start = w_.new_block("region");
    {
        const llvm::DebugLoc here = b_.getCurrentDebugLocation();
        b_.SetCurrentDebugLocation(kernel_.code.lines.nowhere());
        prologue_ = b_.CreateBr(start);
        b_.SetCurrentDebugLocation(here);
    }
    w_.clear_slots_before(prologue_);
    b_.SetInsertPoint(start);
    if (w_.region().barrier)
        enter_region();
    else if (!plan_.function.kernel)
        enter_function(w_);
    b_.CreateBr(block_for(w_.region().entry));
    while (!work_.empty()) {
        const Version version = work_.back();
        work_.pop_back();
        emit_block(version);
    }
}

// A warp that is known to lack lanes has one version of each block.
bool WarpFlow::has_whole(const ir::Block *block) const {
    const auto *known = llvm::dyn_cast<llvm::Constant>(w_.active);
    return !plan_.whole_warps.empty() && plan_.whole_warps[block->id] &&
           (!known || known->isAllOnesValue());
}

llvm::BasicBlock *WarpFlow::block_for(const ir::Block *block, bool whole) {
    const Version version{.block = block, .whole = whole && has_whole(block)};
    auto [it, added] = blocks_.try_emplace(version, nullptr);
    if (added) {
        it->second = w_.new_block(version.whole ? block->name + ".whole" : block->name);
        work_.push_back(version);
    }
    return it->second;
}

void WarpFlow::emit_block(const Version &version) {
    const ir::Block *block = version.block;
    w_.forget_values();
    b_.SetInsertPoint(blocks_.at(version));
    if (version.whole)
        arrive_whole(block);
    else
        arrive(block);
    if (kernel_.counts)
        kernel_.counts->enter(block);
    for (const ir::Instruction *i : block->instructions) {
        if (i == block->terminator())
            break;
        w_.fetch_from_here();
        w_.emit_instruction(*i);
    }
    w_.fetch_from_here();
    if (kernel_.counts)
        kernel_.counts->add(w_, *block->terminator());
    leave(block);
}

// Lanes will arrive at `block` later, and none has arrived yet.
void WarpFlow::start_waiting(const ir::Block *block) {
    if (plan_.masks.of(block).mask.collects)
        b_.CreateStore(llvm::Constant::getNullValue(w_.active->getType()), arrival_slot(block));
    for (const ir::Instruction *i : block->instructions) {
        if (!i->is(Opcode::Phi))
            break;
        if (plan_.masks.starts_zero[i->result()->id])
            w_.start_from_zero(i->result());
    }
}

// Takes the lanes that arrive here, and continues elsewhere if there are none.
void WarpFlow::arrive(const ir::Block *block) {
    for (const ir::Block *waiting : plan_.masks.of(block).starts)
        start_waiting(waiting);
    const warp::BlockMask &plan = plan_.masks.of(block).mask;
    if (kernel_.debug_frame()) // the arriving lanes have no line
        b_.SetCurrentDebugLocation(kernel_.code.lines.nowhere());
    llvm::Value *mask = nullptr;
    if (plan.from == warp::BlockMask::From::Arrivals) {
        llvm::AllocaInst *arrivals = arrival_slot(block);
        mask = b_.CreateLoad(arrivals->getAllocatedType(), arrivals, "mask");
        if (llvm::Constant *lanes = w_.known_mask(plan.lanes))
            mask = b_.CreateAnd(w_.active, lanes);
        b_.CreateStore(mask, mask_slot(block));
        if (plan.clears)
            b_.CreateStore(llvm::Constant::getNullValue(mask->getType()), arrivals);
        if (has_whole(block)) {
            llvm::BasicBlock *some = w_.new_block(block->name + ".some");
            b_.CreateCondBr(is_whole(mask), block_for(block, true), some);
            b_.SetInsertPoint(some);
        }
    } else {
        mask = mask_of(block);
    }
    if (plan.guarded) {
        llvm::BasicBlock *body = w_.new_block(block->name + ".body");
        b_.CreateCondBr(w_.any(mask), body, plan.skip_to ? block_for(plan.skip_to) : done_);
        b_.SetInsertPoint(body);
    }
    if (plan.from == warp::BlockMask::From::Arrivals && has_whole(block))
        w_.set_partial_mask(mask);
    else
        w_.set_mask(mask);
    w_.show_mask();
}

// All lanes are here, so none waits elsewhere.
void WarpFlow::arrive_whole(const ir::Block *block) {
    for (const ir::Block *waiting : plan_.masks.of(block).starts)
        start_waiting(waiting);
    llvm::Constant *all = llvm::Constant::getAllOnesValue(w_.active->getType());
    const warp::BlockMask &plan = plan_.masks.of(block).mask;
    if (plan.from == warp::BlockMask::From::Arrivals) {
        b_.CreateStore(all, mask_slot(block));
        if (plan.clears)
            b_.CreateStore(llvm::Constant::getNullValue(all->getType()), arrival_slot(block));
    }
    w_.set_mask(all);
}

llvm::Value *WarpFlow::is_whole(llvm::Value *mask) {
    llvm::Value *bits = w_.bits_of(mask);
    return b_.CreateICmpEQ(bits, llvm::Constant::getAllOnesValue(bits->getType()), "whole");
}

// If all lanes branch to the block that is next, the others have no lanes.
void WarpFlow::leave_together(const ir::Block *block, llvm::ArrayRef<llvm::Value *> masks) {
    const warp::BlockFlow &flow = plan_.masks.of(block);
    const auto taken = std::ranges::find(flow.edges, flow.next, &warp::Edge::to);
    if (!w_.mask_is_full() || !flow.next || !has_whole(flow.next) || taken == flow.edges.end())
        return;
    llvm::Constant *all = llvm::Constant::getAllOnesValue(w_.active->getType());
    llvm::BasicBlock *together = w_.new_block(block->name + ".together"),
                     *apart = w_.new_block(block->name + ".apart");
    b_.CreateCondBr(is_whole(masks[static_cast<std::size_t>(taken - flow.edges.begin())]), together,
                    apart);
    b_.SetInsertPoint(together);
    for (const warp::Edge &edge : flow.edges)
        pass_edge(edge, &edge == &*taken ? all : llvm::Constant::getNullValue(all->getType()));
    go_to(flow.next, true);
    b_.SetInsertPoint(apart);
}

void WarpFlow::leave(const ir::Block *block) {
    const warp::BlockFlow &flow = plan_.masks.of(block);
    if (kernel_.debug_frame())
        b_.SetCurrentDebugLocation(kernel_.code.lines.at(block->terminator()->location));
    yield_behind(block);
    const std::vector<warp::RegionEnd> &ends = w_.region().ends;
    const auto end = std::ranges::find(ends, block, &warp::RegionEnd::block);
    if (end != ends.end()) {
        pass_edge(flow.edges[0], w_.mask());
        end_region(*end);
    } else if (flow.parts || flow.edges.empty()) {
        if (block->terminator()->is(Opcode::Return))
            emit_results(w_, *block->terminator());
        const auto masks = edge_masks(w_, block);
        leave_together(block, masks);
        for (std::size_t i = 0; i < masks.size(); ++i)
            pass_edge(flow.edges[i], masks[i]);
        go_to(flow.next);
    } else {
        leave_uniform(block);
    }
}

void WarpFlow::yield_behind(const ir::Block *block) {
    switch (plan_.yields[block->id]) {
    case KernelPlan::Yield::Always:
        return emit_yield(w_);
    case KernelPlan::Yield::Sometimes:
        return count_down();
    case KernelPlan::Yield::Never:
        break;
    }
}

// One count for all loops without a bounded trip count.
void WarpFlow::count_down() {
    llvm::Constant *all = b_.getInt32(kIterationsPerPause);
    if (!left_) {
        left_ = kernel_.frame.stack_slot(b_.getInt32Ty(), "iterations.left");
        llvm::IRBuilder<>::InsertPointGuard guard(b_);
        b_.SetInsertPoint(prologue_);
        b_.SetCurrentDebugLocation(kernel_.code.lines.nowhere());
        b_.CreateStore(all, left_);
    }
    llvm::Value *left = b_.CreateSub(b_.CreateLoad(b_.getInt32Ty(), left_), b_.getInt32(1));
    b_.CreateStore(left, left_);
    llvm::BasicBlock *pause = w_.new_block("pause"), *on = w_.new_block("on");
    w_.branch_rarely(b_.CreateICmpEQ(left, b_.getInt32(0)), pause, on);
    b_.SetInsertPoint(pause);
    b_.CreateStore(all, left_);
    emit_pause(w_, rt::kPause);
    b_.CreateBr(on);
    b_.SetInsertPoint(on);
}

void WarpFlow::leave_uniform(const ir::Block *block) {
    const ir::Instruction &end = *block->terminator();
    const std::vector<warp::Edge> &edges = plan_.masks.of(block).edges;
    const bool whole = w_.mask_is_full();
    if (edges.size() == 1) {
        pass_edge(edges[0], w_.mask());
        go_to(edges[0].next, whole && edges[0].next == edges[0].to);
        return;
    }
    llvm::Value *condition = w_.scalar(end.operand(0));
    std::vector<llvm::BasicBlock *> ways;
    for (std::size_t i = 0; i < edges.size(); ++i)
        ways.push_back(w_.new_block(block->name + ".way"));
    if (end.is(Opcode::Branch)) {
        b_.CreateCondBr(condition, ways[0], ways[1]);
    } else {
        // An index past the table uses its last entry: PTX leaves it undefined.
        llvm::SwitchInst *choice = b_.CreateSwitch(condition, ways.back());
        for (std::size_t i = 0; i + 1 < ways.size(); ++i)
            choice->addCase(
                llvm::cast<llvm::ConstantInt>(llvm::ConstantInt::get(condition->getType(), i)),
                ways[i]);
    }
    for (std::size_t i = 0; i < edges.size(); ++i) {
        b_.SetInsertPoint(ways[i]);
        pass_edge(edges[i], w_.mask());
        go_to(edges[i].next, whole && edges[i].next == edges[i].to);
    }
}

// Passes the lanes in `edge_mask` and the values of the target's phis to the target.
void WarpFlow::pass_edge(const warp::Edge &edge, llvm::Value *edge_mask) {
    join_values(w_, edge, edge_mask);
    if (edge.arrive == warp::Edge::Arrive::Nothing)
        return;
    llvm::AllocaInst *arrivals = arrival_slot(edge.to);
    if (edge.arrive == warp::Edge::Arrive::Add)
        edge_mask = b_.CreateOr(edge_mask, b_.CreateLoad(arrivals->getAllocatedType(), arrivals));
    b_.CreateStore(edge_mask, arrivals);
}

// Saves the values needed after the barrier and leaves the region.
void WarpFlow::end_region(const warp::RegionEnd &end) {
    const warp::Region &next = plan_.regions[end.region];
    for (const warp::Fetch &fetch : next.fetches)
        if (llvm::is_contained(end.keeps, fetch.value))
            w_.region_memory.keep(fetch, w_.lanes(fetch.value));
    for (const ir::Block *owner : end.masks)
        w_.region_memory.keep_mask(owner, mask_of(owner));
    // The block after the barrier takes its lanes from here: its own arrivals, or a mask saved
    // above.
    if (next.arrives) {
        llvm::AllocaInst *arrivals = arrival_slot(next.entry);
        w_.region_memory.keep_mask(next.entry,
                                   b_.CreateLoad(arrivals->getAllocatedType(), arrivals));
    }
    at_barrier_(end.region);
}

void WarpFlow::enter_region() {
    const warp::Region &region = w_.region();
    for (const warp::Fetch &fetched : region.fetches)
        if (fetched.set)
            w_.store(fetched.value, w_.region_memory.fetch(fetched));
        else
            w_.fetch_at_use(fetched);
    for (const ir::Block *owner : region.masks)
        b_.CreateStore(w_.region_memory.fetch_mask(owner), mask_slot(owner));
    if (region.arrives)
        b_.CreateStore(w_.region_memory.fetch_mask(region.entry), arrival_slot(region.entry));
    const ir::Instruction &barrier = *region.barrier;
    if (barrier.is(Opcode::BarrierReduce))
        w_.store(barrier.result(),
                 {.base = emit_barrier_result(w_, barrier), .shape = w_.shape(barrier.result())});
}

llvm::AllocaInst *WarpFlow::mask_slot(const ir::Block *owner) {
    llvm::AllocaInst *&at = masks_[owner];
    if (!at)
        at = kernel_.frame.stack_slot(w_.active->getType(), "mask." + owner->name);
    return at;
}

llvm::AllocaInst *WarpFlow::arrival_slot(const ir::Block *owner) {
    llvm::AllocaInst *&at = arrivals_[owner];
    if (!at) {
        at = kernel_.frame.stack_slot(w_.active->getType(), "arrivals." + owner->name);
        llvm::IRBuilder<>::InsertPointGuard guard(b_);
        b_.SetInsertPoint(prologue_);
        b_.SetCurrentDebugLocation(kernel_.code.lines.nowhere());
        b_.CreateStore(llvm::Constant::getNullValue(w_.active->getType()), at);
    }
    return at;
}

// The lanes of a block that the warp has visited.
llvm::Value *WarpFlow::mask_of(const ir::Block *block) {
    const warp::BlockMask &plan = plan_.masks.of(block).mask;
    if (plan.from == warp::BlockMask::From::Active)
        return w_.active;
    if (llvm::Constant *lanes = w_.known_mask(plan.lanes))
        return b_.CreateAnd(w_.active, lanes);
    if (plan.from == warp::BlockMask::From::Owner)
        return mask_of(plan.owner);
    llvm::AllocaInst *at = mask_slot(block);
    return b_.CreateLoad(at->getAllocatedType(), at);
}

} // namespace

void emit_warp_flow(WarpEmitter &w, llvm::BasicBlock *done, const BarrierExit &at_barrier) {
    WarpFlow(w, done, at_barrier).emit();
}

} // namespace softcuda::codegen
