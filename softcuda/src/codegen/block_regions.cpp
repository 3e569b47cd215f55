// block_regions.cpp -- the order in which a block's warps run the regions between its barriers, and
// what passes from one region to the next once for all of them.

#include "codegen/kernel_emitter.h"
#include "codegen/tally.h"
#include "rt/watch_abi.h"

namespace softcuda::codegen {

// What the warps have added up at the barrier becomes its result.
void KernelEmitter::publish_barrier_sum() {
    llvm::Value *sum = worker_member(offsetof(rt::WorkerState, barrier_sum));
    builder.CreateStore(builder.CreateLoad(builder.getInt32Ty(), sum),
                        worker_member(offsetof(rt::WorkerState, barrier_result)));
    builder.CreateStore(builder.getInt32(0), sum);
}

BlockSlot &KernelEmitter::block_slot(const ir::Value *value) {
    BlockSlot &slot = block_slots_[value->id];
    if (!slot.now) {
        llvm::Type *type = scalar_type(context, value->type);
        slot = {.now = stack_slot(type, "now"), .next = stack_slot(type, "next")};
    }
    return slot;
}

llvm::Value *KernelEmitter::load_for_block(const ir::Value *value) {
    llvm::AllocaInst *now = block_slot(value).now;
    return builder.CreateLoad(now->getAllocatedType(), now);
}

void KernelEmitter::store_for_block(const ir::Value *value, llvm::Value *scalar) {
    builder.CreateStore(scalar, block_slot(value).next);
    stored_for_block_.insert(value->id);
}

// Where all warps have passed: what any of them has said, which is what all have said.
void KernelEmitter::publish_block_values() {
    for (std::uint32_t id : stored_for_block_) {
        const BlockSlot &slot = block_slots_.at(id);
        builder.CreateStore(builder.CreateLoad(slot.next->getAllocatedType(), slot.next), slot.now);
    }
    stored_for_block_.clear();
}

// Each region is a loop over all warps; each of them says where the block goes on, all the same.
// Where a region has only one successor LLVM finds that out and jumps.
void KernelEmitter::emit_in_lockstep(llvm::BasicBlock *next_block) {
    next_region_ = stack_slot(builder.getInt32Ty(), "next.region");
    builder.CreateStore(builder.getInt32(0), worker_member(offsetof(rt::WorkerState, barrier_sum)));
    std::vector<llvm::BasicBlock *> starts;
    for (std::size_t r = 0; r < plan.regions.size(); ++r)
        starts.push_back(new_block("region." + llvm::Twine(r)));
    builder.CreateBr(starts[0]);
    for (unsigned r = 0; r < plan.regions.size(); ++r) {
        llvm::BasicBlock *barrier = new_block("barrier");
        builder.SetInsertPoint(starts[r]);
        builder.CreateStore(builder.getInt32(~0u), next_region_);
        emit_warps(r, barrier);
        builder.SetInsertPoint(barrier);
        tallies_->emit_end(r);
        watch_pass(true);
        publish_barrier_sum();
        publish_block_values();
        llvm::SwitchInst *choice = builder.CreateSwitch(
            builder.CreateLoad(builder.getInt32Ty(), next_region_), next_block);
        for (unsigned to = 1; to < plan.regions.size(); ++to)
            choice->addCase(builder.getInt32(to), starts[to]);
    }
}

// In each generation every warp that is not done runs one region. Nearly always all warps are in
// the same region; `pending` has a bit for each one that some warp is in.
void KernelEmitter::emit_generations(llvm::BasicBlock *next_block) {
    llvm::Type *wide = builder.getInt64Ty(), *pointer = builder.getPtrTy();
    unsigned warps = plan.launch.warps();
    following_ = stack_slot(wide, "following");
    constexpr std::uint32_t kNextRegions = ~0u; // keys of scratch_slot that belong to no value
    auto array = [&](std::uint32_t number) {
        return scratch_address(scratch_slot(kNextRegions - number, 4), builder.getInt32(0));
    };
    llvm::Value *first_array = array(0), *second_array = array(1);
    for (unsigned warp = 0; warp < warps; ++warp)
        builder.CreateStore(builder.getInt32(0),
                            next_region_slot(first_array, builder.getInt32(warp)));
    builder.CreateStore(builder.getInt32(0), worker_member(offsetof(rt::WorkerState, barrier_sum)));

    llvm::BasicBlock *before = builder.GetInsertBlock();
    llvm::BasicBlock *generation = new_block("generation"), *choose = new_block("choose");
    llvm::BasicBlock *barrier = new_block("barrier"), *impossible = new_block("impossible");
    builder.CreateBr(generation);
    builder.SetInsertPoint(generation);
    llvm::PHINode *starting = builder.CreatePHI(wide, 2, "starting");
    llvm::PHINode *reading = builder.CreatePHI(pointer, 2, "reading");
    llvm::PHINode *writing = builder.CreatePHI(pointer, 2, "writing");
    starting->addIncoming(builder.getInt64(1), before);
    reading->addIncoming(first_array, before);
    writing->addIncoming(second_array, before);
    reading_ = reading;
    writing_ = writing;
    builder.CreateStore(builder.getInt64(0), following_);
    builder.CreateBr(choose);

    builder.SetInsertPoint(choose);
    llvm::PHINode *pending = builder.CreatePHI(wide, 2, "pending");
    pending->addIncoming(starting, generation);
    llvm::Value *region =
        builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, pending, builder.getTrue());
    llvm::Value *rest = builder.CreateAnd(pending, builder.CreateSub(pending, builder.getInt64(1)));
    llvm::BasicBlock *ran = new_block("ran");
    llvm::SwitchInst *choice = builder.CreateSwitch(region, impossible, plan.regions.size());
    for (unsigned r = 0; r < plan.regions.size(); ++r) {
        llvm::BasicBlock *start = new_block("region." + llvm::Twine(r));
        choice->addCase(builder.getInt64(r), start);
        builder.SetInsertPoint(start);
        emit_warps(r, ran);
    }
    builder.SetInsertPoint(impossible);
    builder.CreateUnreachable();

    builder.SetInsertPoint(ran);
    pending->addIncoming(rest, ran);
    builder.CreateCondBr(builder.CreateICmpNE(rest, builder.getInt64(0)), choose, barrier);
    builder.SetInsertPoint(barrier);
    llvm::Value *following = builder.CreateLoad(wide, following_);
    watch_pass(false);
    publish_barrier_sum();
    starting->addIncoming(following, barrier);
    reading->addIncoming(writing, barrier);
    writing->addIncoming(reading, barrier);
    builder.CreateCondBr(builder.CreateICmpNE(following, builder.getInt64(0)), generation,
                         next_block);
}

void KernelEmitter::watch_arrival() {
    if (plan.request.watch & rt::kWatchOrder)
        builder.CreateCall(
            runtime_function("scu_watch_arrival", builder.getVoidTy(), {builder.getPtrTy()}),
            {invariants.worker});
}

void KernelEmitter::watch_pass(bool all) {
    if (plan.request.watch & rt::kWatchOrder)
        builder.CreateCall(runtime_function("scu_watch_pass", builder.getVoidTy(),
                                            {builder.getPtrTy(), builder.getInt32Ty()}),
                           {invariants.worker, builder.getInt32(all)});
}

llvm::Value *KernelEmitter::next_region_slot(llvm::Value *array, llvm::Value *warp) {
    return builder.CreateInBoundsGEP(builder.getInt32Ty(), array, warp);
}

} // namespace softcuda::codegen
