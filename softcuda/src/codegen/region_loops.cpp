// region_loops.cpp -- the function of a kernel in the tier regions: a range of its thread blocks.
//
//     entry(frame, worker, first, count)
//         read the frame                                 invariant in the launch
//         for block in first .. first + count            blockIdx
//             no barrier:    for warp: body
//             with barriers: next[warp] = region 0
//                            until all warps are done: run each warp's next region
//
//                            in lockstep: run the region of all warps, continue with the next one
//
//         in block groups (warp/block_groups.h):
//             for row of threads: for block in the group: for warp in the row: body
//
// A region is the code of a warp from the start, or from after a barrier, to the next barrier or
// the end. The barrier is passed when all warps have run one region; the plan says whether the
// first or the last warp begins. Values that a warp needs after the barrier are saved in
// WorkerState::scratch, each in an array over the warps.

#include "codegen/column_writer.h"
#include "codegen/kernel_emitter.h"
#include "codegen/warp_emitter.h"
#include "codegen/watch.h"
#include "rt/kernel_abi.h"

#include <bit>
#include <cstddef>

namespace softcuda::codegen {

namespace {

/// A warp in the loop over all of them: emits its code, which branches to `after`.
struct Turn {
    llvm::Value *warp;
    llvm::Value *active; ///< its existing lanes
    llvm::BasicBlock *after;
};
using RunWarp = llvm::function_ref<void(const Turn &turn)>;

/// Neighbouring blocks of one row of the grid.
struct Group {
    llvm::Value *index; ///< the linear index of the first block, an i64
    llvm::Value *x;     ///< its blockIdx.x
    llvm::Value *count; ///< an i32, at least 1
};
using RunBlock = llvm::function_ref<void(llvm::BasicBlock *after)>;

class RegionLoops {
  public:
    explicit RegionLoops(KernelEmitter &kernel)
        : kernel_(kernel), plan_(kernel.plan), frame_(kernel.frame), b_(kernel.builder) {}

    llvm::Function *emit(const std::string &name);

  private:
    void emit_block(llvm::BasicBlock *next_block);
    [[nodiscard]] Group read_group(llvm::Value *index, llvm::Value *last);
    void emit_rows(const Group &group, llvm::BasicBlock *after);
    void emit_members(const Group &group, llvm::BasicBlock *after, RunBlock run);
    void emit_in_lockstep(llvm::BasicBlock *next_block);
    void emit_generations(llvm::BasicBlock *next_block);
    void emit_warps(unsigned region, llvm::BasicBlock *after, RunWarp run);
    void emit_full_warps(unsigned region, llvm::BasicBlock *after, RunWarp run);
    void emit_some_warps(unsigned region, std::uint64_t bits, llvm::BasicBlock *after, RunWarp run);
    void emit_warp_range(unsigned region, llvm::Value *first, llvm::Value *end,
                         llvm::BasicBlock *after, RunWarp run);
    [[nodiscard]] llvm::Value *lanes_in_range(llvm::Value *warp);
    void take_turn(unsigned region, const Turn &turn, RunWarp run);
    void emit_warp(unsigned region, const Turn &turn, const BarrierExit &at_barrier);
    void publish_barrier_sum();
    void clear_barrier_sum();

    KernelEmitter &kernel_;
    const KernelPlan &plan_;
    FunctionFrame &frame_;
    llvm::IRBuilder<> &b_;
};

llvm::Function *RegionLoops::emit(const std::string &name) {
    llvm::Type *wide = b_.getInt64Ty();
    llvm::Function *function = kernel_.new_function(name, {wide, wide});
    frame_.begin(function);
    function->addParamAttr(1, llvm::Attribute::NoAlias);
    llvm::Value *first = function->getArg(2), *count = function->getArg(3);
    llvm::BasicBlock *entry = frame_.new_block("entry"), *block = frame_.new_block("block");
    llvm::BasicBlock *next = frame_.new_block("block.next"), *end = frame_.new_block("end");
    b_.SetInsertPoint(entry);
    kernel_.read_frame();
    llvm::Value *last = b_.CreateAdd(first, count);
    b_.CreateCondBr(b_.CreateICmpULT(first, last), block, end);

    b_.SetInsertPoint(block);
    llvm::PHINode *index = b_.CreatePHI(wide, 2, "index");
    index->addIncoming(first, entry);
    frame_.read_block_index(index);
    watch_block(kernel_);
    llvm::Value *blocks = b_.getInt64(1);
    if (plan_.groups.order == warp::BlockOrder::Rows) {
        const Group group = read_group(index, last);
        blocks = b_.CreateZExt(group.count, wide);
        emit_rows(group, next);
    } else {
        emit_block(next);
    }

    b_.SetInsertPoint(next);
    llvm::Value *following = b_.CreateAdd(index, blocks);
    index->addIncoming(following, next);
    b_.CreateCondBr(b_.CreateICmpULT(following, last), block, end);
    b_.SetInsertPoint(entry->getTerminator());
    kernel_.privatized_tables.emit_start();
    b_.SetInsertPoint(end);
    b_.CreateRetVoid();
    kernel_.scopes.separate(*function);
    return function;
}

void RegionLoops::emit_block(llvm::BasicBlock *next_block) {
    const auto run_warp = [&](const Turn &turn) { emit_warp(0, turn, {}); };
    if (!plan_.has_regions() && kernel_.columns->has_columns(0)) {
        llvm::BasicBlock *ran = frame_.new_block("warps.done");
        kernel_.columns->emit_start(0);
        emit_warps(0, ran, run_warp);
        b_.SetInsertPoint(ran);
        kernel_.columns->emit_end(0);
        b_.CreateBr(next_block);
        return;
    }
    if (!plan_.has_regions())
        return emit_warps(0, next_block, run_warp);
    if (plan_.lockstep.holds)
        return emit_in_lockstep(next_block);
    emit_generations(next_block);
}

// A group ends at the end of the grid's row, and at the end of the range.
Group RegionLoops::read_group(llvm::Value *index, llvm::Value *last) {
    llvm::Value *x = frame_.invariants.block[0];
    llvm::Value *most = b_.CreateLoad(
        b_.getInt32Ty(), frame_.worker_member(offsetof(rt::WorkerState, group_blocks)), "most");
    llvm::Value *in_row = b_.CreateSub(frame_.invariants.grid[0], x);
    llvm::Value *count =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, most, in_row, {}, "in.row");
    llvm::Value *left = b_.CreateSub(last, index);
    count = b_.CreateTrunc(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin,
                                                    b_.CreateZExt(count, b_.getInt64Ty()), left),
                           b_.getInt32Ty(), "blocks");
    return {.index = index, .x = x, .count = count};
}

// Warps of one row run block after block, so that their accesses continue where the last ones
// ended.
void RegionLoops::emit_rows(const Group &group, llvm::BasicBlock *after) {
    const unsigned row = plan_.groups.row_warps, warps = plan_.launch.warps();
    if (row == 1)
        return emit_warps(0, after, [&](const Turn &turn) {
            emit_members(group, turn.after, [&](llvm::BasicBlock *next) {
                emit_warp(0, {.warp = turn.warp, .active = turn.active, .after = next}, {});
            });
        });
    llvm::BasicBlock *before = b_.GetInsertBlock();
    llvm::BasicBlock *loop = frame_.new_block("row"), *next = frame_.new_block("row.next");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode *first = b_.CreatePHI(b_.getInt32Ty(), 2, "first");
    first->addIncoming(b_.getInt32(0), before);
    llvm::Value *end = b_.CreateAdd(first, b_.getInt32(row), "", true, true);
    emit_members(group, next, [&](llvm::BasicBlock *next_block) {
        emit_warp_range(0, first, end, next_block,
                        [&](const Turn &turn) { emit_warp(0, turn, {}); });
    });
    b_.SetInsertPoint(next);
    first->addIncoming(end, next);
    b_.CreateCondBr(b_.CreateICmpULT(end, b_.getInt32(warps)), loop, after);
}

void RegionLoops::emit_members(const Group &group, llvm::BasicBlock *after, RunBlock run) {
    llvm::BasicBlock *before = b_.GetInsertBlock();
    llvm::BasicBlock *loop = frame_.new_block("member"), *next = frame_.new_block("member.next");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode *distance = b_.CreatePHI(b_.getInt32Ty(), 2, "distance");
    distance->addIncoming(b_.getInt32(0), before);
    frame_.enter_block(group.x, group.index, distance);
    run(next);
    b_.SetInsertPoint(next);
    llvm::Value *following = b_.CreateAdd(distance, b_.getInt32(1), "", true, true);
    distance->addIncoming(following, next);
    b_.CreateCondBr(b_.CreateICmpULT(following, group.count), loop, after);
}

void RegionLoops::clear_barrier_sum() {
    b_.CreateStore(b_.getInt32(0), frame_.worker_member(offsetof(rt::WorkerState, barrier_sum)));
}

// The sum of the warps at the barrier becomes its result.
void RegionLoops::publish_barrier_sum() {
    llvm::Value *sum = frame_.worker_member(offsetof(rt::WorkerState, barrier_sum));
    b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), sum),
                   frame_.worker_member(offsetof(rt::WorkerState, barrier_result)));
    b_.CreateStore(b_.getInt32(0), sum);
}

// Each region is a loop over all warps; each of them returns the block's next region, which is the
// same for all. If a region has only one successor, LLVM finds this and jumps.
void RegionLoops::emit_in_lockstep(llvm::BasicBlock *next_block) {
    llvm::AllocaInst *next_region = frame_.stack_slot(b_.getInt32Ty(), "next.region");
    clear_barrier_sum();
    std::vector<llvm::BasicBlock *> starts;
    for (std::size_t r = 0; r < plan_.regions.size(); ++r)
        starts.push_back(frame_.new_block("region." + llvm::Twine(r)));
    b_.CreateBr(starts[0]);
    for (unsigned r = 0; r < plan_.regions.size(); ++r) {
        llvm::BasicBlock *barrier = frame_.new_block("barrier");
        b_.SetInsertPoint(starts[r]);
        b_.CreateStore(b_.getInt32(~0u), next_region);
        kernel_.columns->emit_start(r);
        emit_warps(r, barrier, [&](const Turn &turn) {
            emit_warp(r, turn, [&](unsigned behind) {
                b_.CreateStore(b_.getInt32(behind), next_region);
                b_.CreateBr(turn.after);
            });
        });
        b_.SetInsertPoint(barrier);
        kernel_.privatized_tables.emit_end(r);
        kernel_.columns->emit_end(r);
        watch_pass(kernel_, true);
        publish_barrier_sum();
        kernel_.block_values.publish();
        llvm::SwitchInst *choice =
            b_.CreateSwitch(b_.CreateLoad(b_.getInt32Ty(), next_region), next_block);
        for (unsigned to = 1; to < plan_.regions.size(); ++to)
            choice->addCase(b_.getInt32(to), starts[to]);
    }
}

// In each generation every unfinished warp runs one region. Nearly always all warps are in the same
// region; `pending` has a bit for each region with a warp in it.
void RegionLoops::emit_generations(llvm::BasicBlock *next_block) {
    llvm::Type *wide = b_.getInt64Ty(), *pointer = b_.getPtrTy();
    const unsigned warps = plan_.launch.warps();
    llvm::AllocaInst *following_regions = frame_.stack_slot(wide, "following");
    // For each warp: its next region. One array is read while the other is written.
    auto array = [&](std::uint32_t number) {
        return kernel_.scratch.address(kernel_.scratch.slot(ScratchMemory::array_key(number), 4),
                                       b_.getInt32(0));
    };
    auto next_region_of = [&](llvm::Value *of_warps, llvm::Value *warp) {
        return b_.CreateInBoundsGEP(b_.getInt32Ty(), of_warps, warp);
    };
    llvm::Value *first_array = array(0), *second_array = array(1);
    for (unsigned warp = 0; warp < warps; ++warp)
        b_.CreateStore(b_.getInt32(0), next_region_of(first_array, b_.getInt32(warp)));
    clear_barrier_sum();

    llvm::BasicBlock *before = b_.GetInsertBlock();
    llvm::BasicBlock *generation = frame_.new_block("generation"),
                     *choose = frame_.new_block("choose");
    llvm::BasicBlock *barrier = frame_.new_block("barrier"),
                     *impossible = frame_.new_block("impossible");
    b_.CreateBr(generation);
    b_.SetInsertPoint(generation);
    llvm::PHINode *starting = b_.CreatePHI(wide, 2, "starting");
    llvm::PHINode *reading = b_.CreatePHI(pointer, 2, "reading");
    llvm::PHINode *writing = b_.CreatePHI(pointer, 2, "writing");
    starting->addIncoming(b_.getInt64(1), before);
    reading->addIncoming(first_array, before);
    writing->addIncoming(second_array, before);
    b_.CreateStore(b_.getInt64(0), following_regions);
    b_.CreateBr(choose);

    // A warp in this region runs it. It leaves at a barrier, or at its end.
    auto run_region = [&](unsigned region, const Turn &turn) {
        llvm::BasicBlock *run = frame_.new_block("run"), *done = frame_.new_block("warp.done");
        llvm::Value *mine = b_.CreateLoad(b_.getInt32Ty(), next_region_of(reading, turn.warp));
        b_.CreateCondBr(b_.CreateICmpEQ(mine, b_.getInt32(region)), run, turn.after);
        b_.SetInsertPoint(run);
        const Turn ending{.warp = turn.warp, .active = turn.active, .after = done};
        emit_warp(region, ending, [&](unsigned behind) {
            b_.CreateStore(b_.getInt32(behind), next_region_of(writing, turn.warp));
            watch_arrival(kernel_);
            llvm::Value *bits = b_.CreateLoad(wide, following_regions);
            b_.CreateStore(b_.CreateOr(bits, b_.getInt64(std::uint64_t{1} << behind)),
                           following_regions);
            b_.CreateBr(turn.after);
        });
        b_.SetInsertPoint(done);
        for (llvm::Value *of_warps : {reading, writing})
            b_.CreateStore(b_.getInt32(~0u), next_region_of(of_warps, turn.warp));
        b_.CreateBr(turn.after);
    };

    b_.SetInsertPoint(choose);
    llvm::PHINode *pending = b_.CreatePHI(wide, 2, "pending");
    pending->addIncoming(starting, generation);
    llvm::Value *region = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, pending, b_.getTrue());
    llvm::Value *rest = b_.CreateAnd(pending, b_.CreateSub(pending, b_.getInt64(1)));
    llvm::BasicBlock *ran = frame_.new_block("ran");
    llvm::SwitchInst *choice = b_.CreateSwitch(region, impossible, plan_.regions.size());
    for (unsigned r = 0; r < plan_.regions.size(); ++r) {
        llvm::BasicBlock *start = frame_.new_block("region." + llvm::Twine(r));
        choice->addCase(b_.getInt64(r), start);
        b_.SetInsertPoint(start);
        emit_warps(r, ran, [&](const Turn &turn) { run_region(r, turn); });
    }
    b_.SetInsertPoint(impossible);
    b_.CreateUnreachable();

    b_.SetInsertPoint(ran);
    pending->addIncoming(rest, ran);
    b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt64(0)), choose, barrier);
    b_.SetInsertPoint(barrier);
    llvm::Value *following = b_.CreateLoad(wide, following_regions);
    watch_pass(kernel_, false);
    publish_barrier_sum();
    starting->addIncoming(following, barrier);
    reading->addIncoming(writing, barrier);
    writing->addIncoming(reading, barrier);
    b_.CreateCondBr(b_.CreateICmpNE(following, b_.getInt64(0)), generation, next_block);
}

// The last warp may have lanes without a thread; the masks of the others are full, and known to be.
void RegionLoops::emit_warps(unsigned region, llvm::BasicBlock *after, RunWarp run) {
    if (!plan_.launch.is_fixed())
        return emit_warp_range(region, b_.getInt32(0), frame_.invariants.warps, after, run);
    if (plan_.launch.has_whole_warps())
        return emit_full_warps(region, after, run);
    const unsigned warps = plan_.launch.warps();
    auto run_last = [&](llvm::BasicBlock *behind) {
        take_turn(
            region,
            {.warp = b_.getInt32(warps - 1), .active = kernel_.last_warps_lanes(), .after = behind},
            run);
    };
    if (warps == 1)
        return run_last(after);
    llvm::BasicBlock *second = frame_.new_block("other.warps");
    if (plan_.regions[region].descending) {
        run_last(second);
        b_.SetInsertPoint(second);
        return emit_warp_range(region, b_.getInt32(0), b_.getInt32(warps - 1), after, run);
    }
    emit_warp_range(region, b_.getInt32(0), b_.getInt32(warps - 1), second, run);
    b_.SetInsertPoint(second);
    run_last(after);
}

// All warps, or those that have work.
void RegionLoops::emit_full_warps(unsigned region, llvm::BasicBlock *after, RunWarp run) {
    const unsigned warps = plan_.launch.warps();
    const std::uint64_t bits =
        plan_.regions[region].active_warps & (~std::uint64_t{0} >> (64 - warps));
    const auto first = static_cast<unsigned>(std::countr_zero(bits));
    const auto end = static_cast<unsigned>(std::bit_width(bits));
    if (static_cast<unsigned>(std::popcount(bits)) != end - first)
        emit_some_warps(region, bits, after, run);
    else if (end - first == 1)
        take_turn(
            region,
            {.warp = b_.getInt32(first), .active = kernel_.all_lanes_active(), .after = after},
            run);
    else
        emit_warp_range(region, b_.getInt32(first), b_.getInt32(end), after, run);
}

void RegionLoops::emit_some_warps(unsigned region, std::uint64_t bits, llvm::BasicBlock *after,
                                  RunWarp run) {
    llvm::Type *wide = b_.getInt64Ty();
    llvm::BasicBlock *before = b_.GetInsertBlock();
    llvm::BasicBlock *loop = frame_.new_block("warp"), *next = frame_.new_block("warp.next");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode *left = b_.CreatePHI(wide, 2, "warps.left");
    left->addIncoming(b_.getInt64(bits), before);
    const bool descending = plan_.regions[region].descending;
    llvm::Value *warp = b_.CreateBinaryIntrinsic(
        descending ? llvm::Intrinsic::ctlz : llvm::Intrinsic::cttz, left, b_.getTrue());
    if (descending)
        warp = b_.CreateSub(b_.getInt64(63), warp);
    take_turn(region,
              {.warp = b_.CreateTrunc(warp, b_.getInt32Ty(), "w"),
               .active = kernel_.all_lanes_active(),
               .after = next},
              run);
    b_.SetInsertPoint(next);
    llvm::Value *rest = b_.CreateXor(left, b_.CreateShl(b_.getInt64(1), warp));
    if (!descending)
        rest = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt64(1)));
    left->addIncoming(rest, next);
    b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt64(0)), loop, after);
}

// One of several warps of a block. If the extents are fixed, the last warp's code is separate
// unless all of its lanes exist.
llvm::Value *RegionLoops::lanes_in_range(llvm::Value *warp) {
    return plan_.launch.is_fixed() ? kernel_.all_lanes_active() : kernel_.lanes_of(warp);
}

void RegionLoops::emit_warp_range(unsigned region, llvm::Value *first, llvm::Value *end,
                                  llvm::BasicBlock *after, RunWarp run) {
    llvm::BasicBlock *before = b_.GetInsertBlock();
    llvm::BasicBlock *loop = frame_.new_block("warp"), *next = frame_.new_block("warp.next");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode *turn = b_.CreatePHI(b_.getInt32Ty(), 2, "w");
    turn->addIncoming(first, before);
    llvm::Value *warp = turn;
    if (plan_.regions[region].descending)
        warp = b_.CreateSub(b_.CreateSub(b_.CreateAdd(first, end), b_.getInt32(1)), turn, "", true,
                            true);
    take_turn(region, {.warp = warp, .active = lanes_in_range(warp), .after = next}, run);
    b_.SetInsertPoint(next);
    llvm::Value *following = b_.CreateAdd(turn, b_.getInt32(1), "", true, true);
    turn->addIncoming(following, next);
    b_.CreateCondBr(b_.CreateICmpULT(following, end), loop, after);
}

void RegionLoops::take_turn(unsigned region, const Turn &turn, RunWarp run) {
    if (!plan_.regions[region].quiet)
        frame_.announce_warp(turn.warp);
    run(turn);
}

void RegionLoops::emit_warp(unsigned region, const Turn &turn, const BarrierExit &at_barrier) {
    WarpEmitter emitter(kernel_, region, turn.warp, turn.active);
    kernel_.tier.flow(emitter, turn.after, at_barrier);
}

} // namespace

llvm::Function *emit_block_range(KernelEmitter &kernel, const std::string &name) {
    return RegionLoops(kernel).emit(name);
}

} // namespace softcuda::codegen
