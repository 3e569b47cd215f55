// kernel_emitter.cpp -- the loops around a warp: blocks, generations of regions, warps.

#include "codegen/kernel_emitter.h"

#include "codegen/counts.h"
#include "codegen/debug_frame.h"
#include "codegen/generate.h"
#include "codegen/source_lines.h"
#include "codegen/tally.h"
#include "codegen/warp_emitter.h"
#include "jit/interleave_warps.h"
#include "rt/watch_abi.h"

#include <bit>
#include <cstddef>
#include <utility>

namespace softcuda::codegen {

using ir::Opcode;

KernelEmitter::KernelEmitter(llvm::Module &m, const KernelPlan &p, const jit::Target &t,
                             SourceLines &l)
    : module(m), context(m.getContext()), plan(p), target(t), lines(l), builder(context),
      counts(p.request.counts ? std::make_unique<Counts>(*this) : nullptr),
      tallies_(std::make_unique<Tallies>(*this)) {}

KernelEmitter::~KernelEmitter() = default;

std::uint32_t KernelEmitter::scratch_id(const ir::Value *value, unsigned part) const {
    return value->id * 3 + part;
}

std::uint32_t KernelEmitter::scratch_mask_id(const ir::Block *owner) const {
    return plan.function.value_count() * 3 + owner->id;
}

ScratchSlot KernelEmitter::scratch_slot(std::uint32_t id, std::uint64_t bytes) {
    auto [it, added] = slots_.try_emplace(id);
    if (added) {
        std::uint64_t stride = bytes >= 64 ? (bytes + 63) / 64 * 64 : (bytes + 3) / 4 * 4;
        it->second = {.offset = 0, .stride = stride};
        it->second.offset = reserve_scratch((stride * plan.launch.warps() + 63) / 64 * 64);
    }
    return it->second;
}

std::uint64_t KernelEmitter::reserve_scratch(std::uint64_t bytes) {
    return std::exchange(scratch_bytes_, scratch_bytes_ + bytes);
}

const Tally *KernelEmitter::tally(unsigned region) { return tallies_->find(region); }

llvm::Value *KernelEmitter::scratch_address(ScratchSlot slot, llvm::Value *warp) {
    llvm::Value *offset = builder.CreateMul(builder.CreateZExt(warp, builder.getInt64Ty()),
                                            builder.getInt64(slot.stride));
    offset = builder.CreateAdd(offset, builder.getInt64(slot.offset));
    return builder.CreateInBoundsGEP(builder.getInt8Ty(), invariants.scratch, offset);
}

llvm::Instruction *KernelEmitter::mark_scratch(llvm::Instruction *access) {
    make_scopes();
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, scratch_scope_);
    return access;
}

void KernelEmitter::make_scopes() {
    if (scratch_scope_)
        return;
    llvm::MDBuilder metadata(context);
    llvm::MDNode *domain = metadata.createAnonymousAliasScopeDomain("softcuda");
    llvm::Metadata *scratch = metadata.createAnonymousAliasScope(domain, "scratch");
    llvm::Metadata *worker = metadata.createAnonymousAliasScope(domain, "worker");
    scratch_scope_ = llvm::MDNode::get(context, {scratch});
    worker_scope_ = llvm::MDNode::get(context, {worker});
    both_scopes_ = llvm::MDNode::get(context, {scratch, worker});
}

// What kernels load and store is neither scratch memory nor the worker's state, so values that came
// from there need no reload. Calls of the runtime do read the worker's state.
void KernelEmitter::separate_scopes() {
    make_scopes();
    auto is_access = [](const llvm::Instruction &i) {
        if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(i))
            return true;
        const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        return call && (call->getIntrinsicID() == llvm::Intrinsic::masked_load ||
                        call->getIntrinsicID() == llvm::Intrinsic::masked_store ||
                        call->getIntrinsicID() == llvm::Intrinsic::masked_gather ||
                        call->getIntrinsicID() == llvm::Intrinsic::masked_scatter);
    };
    for (llvm::BasicBlock &block : *function_)
        for (llvm::Instruction &i : block)
            if (i.mayReadOrWriteMemory() && !i.hasMetadata(llvm::LLVMContext::MD_alias_scope))
                i.setMetadata(llvm::LLVMContext::MD_noalias,
                              is_access(i) ? both_scopes_ : scratch_scope_);
}

llvm::AllocaInst *KernelEmitter::stack_slot(llvm::Type *type, const llvm::Twine &name) {
    llvm::BasicBlock &entry = function_->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    return at_entry.CreateAlloca(type, nullptr, name);
}

llvm::AllocaInst *KernelEmitter::stack_mark() {
    if (stack_mark_ || !plan.takes_memory)
        return stack_mark_;
    stack_mark_ = stack_slot(builder.getInt64Ty(), "stack.mark");
    llvm::IRBuilder<> behind(stack_mark_->getParent(), std::next(stack_mark_->getIterator()));
    behind.CreateStore(behind.getInt64(0), stack_mark_);
    return stack_mark_;
}

llvm::AllocaInst *KernelEmitter::call_slot(llvm::Type *type) {
    llvm::AllocaInst *&slot = call_slots_[type];
    if (!slot)
        slot = stack_slot(type, "call");
    return slot;
}

llvm::GlobalVariable *KernelEmitter::constant(llvm::Constant *value, const llvm::Twine &name) {
    llvm::GlobalVariable *&variable = constants_[value];
    if (!variable)
        variable = own_constant(value, name);
    return variable;
}

llvm::GlobalVariable *KernelEmitter::own_constant(llvm::Constant *value, const llvm::Twine &name) {
    return new llvm::GlobalVariable(module, value->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, value, name);
}

llvm::FunctionCallee KernelEmitter::runtime_function(llvm::StringRef name, llvm::Type *result,
                                                     llvm::ArrayRef<llvm::Type *> parameters) {
    auto callee =
        module.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
    auto *function = llvm::cast<llvm::Function>(callee.getCallee());
    function->addFnAttr(llvm::Attribute::Cold);
    function->addFnAttr(llvm::Attribute::NoMerge); // each call stands for its own line

    return callee;
}

llvm::Value *KernelEmitter::load_member(llvm::Value *object, std::size_t offset, llvm::Type *type,
                                        const llvm::Twine &name) {
    llvm::Value *at = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), object, offset);
    return builder.CreateLoad(type, at, name);
}

llvm::BasicBlock *KernelEmitter::new_block(const llvm::Twine &name) {
    return llvm::BasicBlock::Create(context, name, function_);
}

void KernelEmitter::read_frame() {
    using rt::LaunchFrame;
    using rt::WorkerState;
    llvm::Type *pointer = builder.getPtrTy(), *word = builder.getInt32Ty(),
               *wide = builder.getInt64Ty();
    auto frame = [&](std::size_t offset, llvm::Type *type, const char *name) {
        return load_member(invariants.frame, offset, type, name);
    };
    auto worker = [&](std::size_t offset, llvm::Type *type, const char *name) {
        return load_member(invariants.worker, offset, type, name);
    };
    invariants.params = frame(offsetof(LaunchFrame, params), pointer, "params");
    // So that reading a parameter may move out of a loop which may not read it.
    llvm::cast<llvm::LoadInst>(invariants.params)
        ->setMetadata(llvm::LLVMContext::MD_dereferenceable,
                      llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(builder.getInt64(
                                                     plan.function.parameter_bytes))));
    invariants.symbols = frame(offsetof(LaunchFrame, symbols), pointer, "symbols");
    invariants.global_base = frame(offsetof(LaunchFrame, global_base), wide, "global.base");
    invariants.global_size = frame(offsetof(LaunchFrame, global_size), wide, "global.size");
    for (std::size_t d = 0; d < 3; ++d)
        invariants.grid[d] = frame(offsetof(LaunchFrame, grid) + 4 * d, word, "grid");
    invariants.dynamic_shared = frame(offsetof(LaunchFrame, dynamic_shared_bytes), word, "dynamic");
    invariants.grid_id = frame(offsetof(LaunchFrame, grid_id), wide, "grid.id");
    invariants.workspace = frame(offsetof(LaunchFrame, grid_workspace), wide, "workspace");
    for (std::size_t d = 0; d < 3; ++d)
        invariants.cluster[d] = frame(offsetof(LaunchFrame, cluster) + 4 * d, word, "cluster");
    invariants.explicit_cluster =
        frame(offsetof(LaunchFrame, explicit_cluster), word, "explicit.cluster");
    invariants.shared = worker(offsetof(WorkerState, shared), pointer, "shared");
    invariants.local = worker(offsetof(WorkerState, local), pointer, "local");
    invariants.scratch = worker(offsetof(WorkerState, scratch), pointer, "scratch");
    invariants.worker_id = worker(offsetof(WorkerState, worker_id), word, "worker.id");
    invariants.worker_count = worker(offsetof(WorkerState, worker_count), word, "worker.count");
    if (counts)
        counts->begin();
}

void KernelEmitter::read_block_index(llvm::Value *index) {
    builder.CreateStore(index,
                        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), invariants.worker,
                                                           offsetof(rt::WorkerState, block_index)));
    llvm::Type *wide = builder.getInt64Ty(), *word = builder.getInt32Ty();
    llvm::Value *x = builder.CreateZExt(invariants.grid[0], wide);
    llvm::Value *y = builder.CreateZExt(invariants.grid[1], wide);
    auto split = [&](llvm::Value *value, llvm::Value *by) {
        llvm::Value *whole = builder.CreateUDiv(value, by);
        return std::pair(whole, builder.CreateSub(value, builder.CreateMul(whole, by)));
    };
    auto [line, column] = split(index, x);
    auto [plane, row] = split(line, y);
    llvm::Value *place[3] = {column, row, plane};
    for (std::size_t d = 0; d < 3; ++d)
        invariants.block[d] = builder.CreateTrunc(place[d], word);
}

llvm::Value *KernelEmitter::text(const std::string &text) {
    return builder.CreateGlobalString(text, "text", 0, &module);
}

llvm::Function *KernelEmitter::new_function(const std::string &name,
                                            llvm::ArrayRef<llvm::Type *> rest) {
    llvm::SmallVector<llvm::Type *, 8> parameters{builder.getPtrTy(), builder.getPtrTy()};
    parameters.append(rest.begin(), rest.end());
    auto *type = llvm::FunctionType::get(builder.getVoidTy(), parameters, false);
    auto *made = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
    made->addFnAttr(llvm::Attribute::NoUnwind);
    made->addFnAttr(llvm::Attribute::NoRedZone); // inline assembly calls the runtime
    made->addParamAttr(0, llvm::Attribute::NoAlias);
    target.apply(*made);
    if (plan.function.debug)
        made->addFnAttr("frame-pointer", "all");
    if (has_fibers()) // a frame larger than the guard below the stack must not reach over it
        made->addFnAttr("probe-stack", "inline-asm");
    return made;
}

void KernelEmitter::begin_function(llvm::Function *function) {
    function_ = function;
    lines.begin(*function, plan.function);
    builder.SetCurrentDebugLocation(lines.nowhere());
    call_slots_.clear();
    stack_mark_ = nullptr;
    invariants.frame = function_->getArg(0);
    invariants.worker = function_->getArg(1);
}

void KernelEmitter::begin_debug_frame(llvm::Value *warp) {
    if (plan.function.debug)
        debug_frame_ = std::make_unique<DebugFrame>(*this, warp);
}

llvm::Function *KernelEmitter::emit(const std::string &name) {
    llvm::Type *word = builder.getInt32Ty(), *wide = builder.getInt64Ty();
    if (has_fibers()) {
        begin_function(new_function(name, {wide, word}));
        emit_one_warp();
    } else {
        begin_function(new_function(name, {wide, wide}));
        function_->addParamAttr(1, llvm::Attribute::NoAlias);
        emit_block_range();
    }
    return function_;
}

llvm::Function *KernelEmitter::declare_function(std::uint32_t symbol) {
    const std::string name = kFunctionPrefix + std::to_string(symbol);
    if (llvm::Function *known = module.getFunction(name))
        return known;
    llvm::Type *word = builder.getInt32Ty(), *wide = builder.getInt64Ty();
    llvm::Function *made = new_function(name, {wide, word, word, wide, builder.getPtrTy()});
    made->setLinkage(llvm::Function::InternalLinkage);
    return made;
}

void KernelEmitter::emit_function(std::uint32_t symbol) {
    begin_function(declare_function(symbol));
    builder.SetInsertPoint(new_block("entry"));
    read_frame();
    invariants.launch_index = function_->getArg(2);
    read_block_index(invariants.launch_index);
    invariants.depth = function_->getArg(5);
    invariants.call_area = function_->getArg(6);
    begin_debug_frame(function_->getArg(3));
    llvm::Value *active = builder.CreateBitCast(function_->getArg(4),
                                                with_lanes(builder.getInt1Ty(), kLanes), "active");
    llvm::BasicBlock *end = new_block("end");
    WarpEmitter(*this, 0, function_->getArg(3), active, end).emit([](unsigned) {});
    builder.SetInsertPoint(end);
    builder.CreateRetVoid();
    if (counts)
        counts->finish();
}

// The runtime has set WorkerState::warp_index.
void KernelEmitter::emit_one_warp() {
    builder.SetInsertPoint(new_block("entry"));
    read_frame();
    invariants.launch_index = function_->getArg(2);
    read_block_index(invariants.launch_index);
    llvm::Value *warp = function_->getArg(3);
    begin_debug_frame(warp);
    llvm::BasicBlock *end = new_block("end");
    const bool all_full = plan.launch.threads() % kLanes == 0;
    llvm::Value *is_last =
        all_full ? nullptr : builder.CreateICmpEQ(warp, builder.getInt32(plan.launch.warps() - 1));
    if (all_full) {
        WarpEmitter(*this, 0, warp, all_lanes_active(), end).emit([](unsigned) {});
    } else if (plan.launch.warps() == 1) {
        WarpEmitter(*this, 0, warp, last_warps_lanes(), end).emit([](unsigned) {});
    } else if (has_lanes() || plan.function.debug) {
        // Lanes go their own ways: that all of them start would make nothing faster. A debugger
        // wants one piece of code for each line.
        llvm::Value *active =
            builder.CreateSelect(is_last, last_warps_lanes(), all_lanes_active(), "active");
        WarpEmitter(*this, 0, warp, active, end).emit([](unsigned) {});
    } else {
        llvm::BasicBlock *last = new_block("last.warp"), *other = new_block("warp");
        builder.CreateCondBr(is_last, last, other);
        builder.SetInsertPoint(last);
        WarpEmitter(*this, 0, builder.getInt32(plan.launch.warps() - 1), last_warps_lanes(), end)
            .emit([](unsigned) {});
        builder.SetInsertPoint(other);
        WarpEmitter(*this, 0, warp, all_lanes_active(), end).emit([](unsigned) {});
    }
    builder.SetInsertPoint(end);
    builder.CreateRetVoid();
    if (counts)
        counts->finish();
}

void KernelEmitter::emit_block_range() {
    llvm::Type *wide = builder.getInt64Ty();
    llvm::Value *first = function_->getArg(2), *count = function_->getArg(3);
    llvm::BasicBlock *entry = new_block("entry"), *block = new_block("block");
    llvm::BasicBlock *next = new_block("block.next"), *end = new_block("end");
    builder.SetInsertPoint(entry);
    read_frame();
    llvm::Value *last = builder.CreateAdd(first, count);
    builder.CreateCondBr(builder.CreateICmpULT(first, last), block, end);

    builder.SetInsertPoint(block);
    llvm::PHINode *index = builder.CreatePHI(wide, 2, "index");
    index->addIncoming(first, entry);
    read_block_index(index);
    if (plan.request.watch & (rt::kWatchWrites | rt::kWatchOrder))
        builder.CreateCall(
            runtime_function("scu_watch_block", builder.getVoidTy(), {builder.getPtrTy()}),
            {invariants.worker});
    emit_block(next);

    builder.SetInsertPoint(next);
    llvm::Value *following = builder.CreateAdd(index, builder.getInt64(1));
    index->addIncoming(following, next);
    builder.CreateCondBr(builder.CreateICmpULT(following, last), block, end);
    builder.SetInsertPoint(entry->getTerminator());
    tallies_->emit_start();
    builder.SetInsertPoint(end);
    builder.CreateRetVoid();
    separate_scopes();
}

void KernelEmitter::emit_block(llvm::BasicBlock *next_block) {
    if (has_regions() && plan.lockstep.holds)
        emit_in_lockstep(next_block);
    else if (has_regions())
        emit_generations(next_block);
    else
        emit_warps(0, next_block);
}

llvm::Value *KernelEmitter::worker_member(std::size_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), invariants.worker, offset);
}

llvm::Constant *KernelEmitter::all_lanes_active() {
    return llvm::Constant::getAllOnesValue(with_lanes(builder.getInt1Ty(), kLanes));
}

llvm::Constant *KernelEmitter::last_warps_lanes() {
    unsigned rest = plan.launch.threads() % kLanes;
    llvm::SmallVector<llvm::Constant *, kLanes> lanes;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        lanes.push_back(builder.getInt1(rest == 0 || lane < rest));
    return llvm::ConstantVector::get(lanes);
}

// The last warp may have lanes without a thread; the others' masks are full, and known to be.
void KernelEmitter::emit_warps(unsigned region, llvm::BasicBlock *after) {
    unsigned warps = plan.launch.warps();
    if (plan.launch.threads() % kLanes == 0) {
        emit_full_warps(region, after);
        return;
    }
    if (warps > 1) {
        llvm::BasicBlock *last = new_block("last.warp");
        emit_warp_range(region, builder.getInt32(0), builder.getInt32(warps - 1),
                        all_lanes_active(), last);
        builder.SetInsertPoint(last);
    }
    emit_warp(region, builder.getInt32(warps - 1), last_warps_lanes(), after);
}

// All of them, or those that have anything to do.
void KernelEmitter::emit_full_warps(unsigned region, llvm::BasicBlock *after) {
    const unsigned warps = plan.launch.warps();
    const std::uint64_t bits =
        plan.regions[region].active_warps & (~std::uint64_t{0} >> (64 - warps));
    const auto first = static_cast<unsigned>(std::countr_zero(bits));
    const auto end = static_cast<unsigned>(std::bit_width(bits));
    if (static_cast<unsigned>(std::popcount(bits)) != end - first)
        emit_some_warps(region, bits, after);
    else if (end - first == 1)
        emit_warp(region, builder.getInt32(first), all_lanes_active(), after);
    else
        emit_warp_range(region, builder.getInt32(first), builder.getInt32(end), all_lanes_active(),
                        after);
}

void KernelEmitter::emit_some_warps(unsigned region, std::uint64_t bits, llvm::BasicBlock *after) {
    llvm::Type *wide = builder.getInt64Ty();
    llvm::BasicBlock *before = builder.GetInsertBlock();
    llvm::BasicBlock *loop = new_block("warp"), *next = new_block("warp.next");
    builder.CreateBr(loop);
    builder.SetInsertPoint(loop);
    llvm::PHINode *left = builder.CreatePHI(wide, 2, "warps.left");
    left->addIncoming(builder.getInt64(bits), before);
    llvm::Value *warp =
        builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, builder.getTrue());
    emit_warp(region, builder.CreateTrunc(warp, builder.getInt32Ty(), "w"), all_lanes_active(),
              next);
    builder.SetInsertPoint(next);
    llvm::Value *rest = builder.CreateAnd(left, builder.CreateSub(left, builder.getInt64(1)));
    left->addIncoming(rest, next);
    builder.CreateCondBr(builder.CreateICmpNE(rest, builder.getInt64(0)), loop, after);
}

void KernelEmitter::emit_warp_range(unsigned region, llvm::Value *first, llvm::Value *end,
                                    llvm::Constant *active, llvm::BasicBlock *after) {
    llvm::BasicBlock *before = builder.GetInsertBlock();
    llvm::BasicBlock *loop = new_block("warp"), *next = new_block("warp.next");
    builder.CreateBr(loop);
    builder.SetInsertPoint(loop);
    llvm::PHINode *warp = builder.CreatePHI(builder.getInt32Ty(), 2, "w");
    warp->addIncoming(first, before);
    emit_warp(region, warp, active, next);
    builder.SetInsertPoint(next);
    llvm::Value *following = builder.CreateAdd(warp, builder.getInt32(1), "", true, true);
    warp->addIncoming(following, next);
    llvm::BranchInst *latch =
        builder.CreateCondBr(builder.CreateICmpULT(following, end), loop, after);
    if (plan.regions[region].quiet)
        jit::mark_warp_loop(*latch);
}

// Whoever reports a fault reads the number, at any time: the store must stay where it is, but
// nothing that kernels load has to be loaded again for it, which a volatile store would mean.
void KernelEmitter::announce_warp(llvm::Value *warp) {
    llvm::Value *place = worker_member(offsetof(rt::WorkerState, warp_index));
    if (!target.is_x86_64()) {
        builder.CreateStore(warp, place, /*isVolatile=*/true);
        return;
    }
    auto *type = llvm::FunctionType::get(builder.getVoidTy(),
                                         {builder.getPtrTy(), builder.getInt32Ty()}, false);
    llvm::CallInst *store = builder.CreateCall(
        llvm::InlineAsm::get(type, "movl $1, $0", "=*m,r", /*hasSideEffects=*/true), {place, warp});
    store->addParamAttr(
        0, llvm::Attribute::get(context, llvm::Attribute::ElementType, builder.getInt32Ty()));
    store->setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Mod));
    store->addFnAttr(llvm::Attribute::NoUnwind);
    store->addFnAttr(llvm::Attribute::WillReturn); // what follows may move before it
    make_scopes();
    store->setMetadata(llvm::LLVMContext::MD_alias_scope, worker_scope_);
}

void KernelEmitter::emit_warp(unsigned region, llvm::Value *warp, llvm::Constant *active,
                              llvm::BasicBlock *after) {
    if (!plan.regions[region].quiet)
        announce_warp(warp);
    if (!has_regions()) {
        WarpEmitter(*this, region, warp, active, after).emit([](unsigned) {});
        return;
    }
    if (plan.lockstep.holds) {
        WarpEmitter(*this, region, warp, active, after).emit([&](unsigned behind) {
            builder.CreateStore(builder.getInt32(behind), next_region_);
            builder.CreateBr(after);
        });
        return;
    }
    llvm::BasicBlock *run = new_block("run"), *done = new_block("warp.done");
    llvm::Value *mine = builder.CreateLoad(builder.getInt32Ty(), next_region_slot(reading_, warp));
    builder.CreateCondBr(builder.CreateICmpEQ(mine, builder.getInt32(region)), run, after);
    builder.SetInsertPoint(run);
    WarpEmitter(*this, region, warp, active, done).emit([&](unsigned behind) {
        builder.CreateStore(builder.getInt32(behind), next_region_slot(writing_, warp));
        watch_arrival();
        llvm::Value *bits = builder.CreateLoad(builder.getInt64Ty(), following_);
        builder.CreateStore(builder.CreateOr(bits, builder.getInt64(std::uint64_t{1} << behind)),
                            following_);
        builder.CreateBr(after);
    });
    builder.SetInsertPoint(done);
    for (llvm::Value *array : {reading_, writing_})
        builder.CreateStore(builder.getInt32(~0u), next_region_slot(array, warp));
    builder.CreateBr(after);
}

} // namespace softcuda::codegen
