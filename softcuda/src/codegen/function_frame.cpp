// function_frame.cpp -- data of its launch, its block and its worker that a function reads.
#include "codegen/function_frame.h"

#include "rt/kernel_abi.h"
#include "target/code/instructions.h"

#include <utility>

namespace softcuda::codegen {

FunctionFrame::FunctionFrame(CodeModule &code, llvm::IRBuilder<> &builder, AliasScopes &scopes,
                             const warp::KernelPlan &plan)
    : code_(code), builder_(builder), scopes_(scopes), plan_(plan) {}

void FunctionFrame::begin(llvm::Function *function) {
    function_ = function;
    code_.lines.begin(*function, plan_.function);
    builder_.SetCurrentDebugLocation(code_.lines.nowhere());
    call_slots_.clear();
    stack_mark_ = nullptr;
    invariants.frame = function_->getArg(0);
    invariants.worker = function_->getArg(1);
}

FunctionFrame::Elsewhere::Elsewhere(FunctionFrame &frame, llvm::Function *function,
                                    llvm::Value *shared)
    : frame_(frame), position_(frame.builder_), function_(frame.function_),
      shared_(frame.invariants.shared) {
    frame_.function_ = function;
    frame_.invariants.shared = shared;
    frame_.builder_.SetInsertPoint(frame_.new_block("entry"));
    frame_.builder_.SetCurrentDebugLocation({});
}

FunctionFrame::Elsewhere::~Elsewhere() {
    frame_.function_ = function_;
    frame_.invariants.shared = shared_;
}

llvm::BasicBlock *FunctionFrame::new_block(const llvm::Twine &name) {
    return llvm::BasicBlock::Create(code_.context, name, function_);
}

void FunctionFrame::read() {
    using rt::LaunchFrame;
    using rt::WorkerState;
    llvm::Type *pointer = builder_.getPtrTy(), *word = builder_.getInt32Ty(),
               *wide = builder_.getInt64Ty();
    auto frame = [&](std::size_t offset, llvm::Type *type, const char *name) {
        return load_member(invariants.frame, offset, type, name);
    };
    auto worker = [&](std::size_t offset, llvm::Type *type, const char *name) {
        return load_member(invariants.worker, offset, type, name);
    };
    invariants.params = frame(offsetof(LaunchFrame, params), pointer, "params");
    // So that the load of a parameter may move out of a loop, which otherwise may not load it.
    llvm::cast<llvm::LoadInst>(invariants.params)
        ->setMetadata(llvm::LLVMContext::MD_dereferenceable,
                      llvm::MDNode::get(code_.context,
                                        llvm::ConstantAsMetadata::get(
                                            builder_.getInt64(plan_.function.parameter_bytes))));
    invariants.symbols = frame(offsetof(LaunchFrame, symbols), pointer, "symbols");
    invariants.global_base = frame(offsetof(LaunchFrame, global_base), wide, "global.base");
    invariants.global_size = frame(offsetof(LaunchFrame, global_size), wide, "global.size");
    for (std::size_t d = 0; d < 3; ++d)
        invariants.grid[d] = frame(offsetof(LaunchFrame, grid) + 4 * d, word, "grid");
    read_extents();
    invariants.dynamic_shared = frame(offsetof(LaunchFrame, dynamic_shared_bytes), word, "dynamic");
    invariants.grid_id = frame(offsetof(LaunchFrame, grid_id), wide, "grid.id");
    invariants.graph_exec = frame(offsetof(LaunchFrame, graph_exec), wide, "graph.exec");
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
}

void FunctionFrame::read_extents() {
    const analysis::LaunchShape &launch = plan_.launch;
    llvm::Type *word = builder_.getInt32Ty();
    invariants.threads = builder_.getInt32(1);
    for (std::size_t d = 0; d < 3; ++d) {
        llvm::Value *&extent = invariants.extent[d];
        extent = launch.is_fixed()
                     ? builder_.getInt32(launch.block[d])
                     : load_member(invariants.frame, offsetof(rt::LaunchFrame, block) + 4 * d, word,
                                   "extent");
        invariants.threads = builder_.CreateMul(invariants.threads, extent, "threads", true, true);
    }
    invariants.warps = builder_.CreateLShr(
        builder_.CreateAdd(invariants.threads, builder_.getInt32(analysis::kLanes - 1)), 5,
        "warps");
    for (std::size_t d = 0; d < 2; ++d)
        invariants.reciprocal[d] =
            launch.is_fixed()
                ? nullptr
                : builder_.CreateUDiv(
                      builder_.CreateAdd(invariants.extent[d],
                                         builder_.getInt32((1u << kReciprocalBits) - 1)),
                      invariants.extent[d], "reciprocal");
}

void FunctionFrame::read_block_index(llvm::Value *index) {
    builder_.CreateStore(
        index, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), invariants.worker,
                                                   offsetof(rt::WorkerState, block_index)));
    llvm::Type *wide = builder_.getInt64Ty(), *word = builder_.getInt32Ty();
    llvm::Value *x = builder_.CreateZExt(invariants.grid[0], wide);
    llvm::Value *y = builder_.CreateZExt(invariants.grid[1], wide);
    auto split = [&](llvm::Value *value, llvm::Value *by) {
        llvm::Value *whole = builder_.CreateUDiv(value, by);
        return std::pair(whole, builder_.CreateSub(value, builder_.CreateMul(whole, by)));
    };
    auto [line, column] = split(index, x);
    auto [plane, row] = split(line, y);
    llvm::Value *place[3] = {column, row, plane};
    for (std::size_t d = 0; d < 3; ++d)
        invariants.block[d] = builder_.CreateTrunc(place[d], word);
}

void FunctionFrame::enter_block(llvm::Value *first, llvm::Value *index, llvm::Value *distance) {
    store_in_place(builder_.CreateAdd(index, builder_.CreateZExt(distance, builder_.getInt64Ty())),
                   offsetof(rt::WorkerState, block_index));
    invariants.block[0] = builder_.CreateAdd(first, distance, "block.x", true, false);
}

llvm::AllocaInst *FunctionFrame::stack_slot(llvm::Type *type, const llvm::Twine &name) {
    llvm::BasicBlock &entry = function_->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    return at_entry.CreateAlloca(type, nullptr, name);
}

llvm::AllocaInst *FunctionFrame::stack_mark() {
    if (stack_mark_ || !plan_.takes_memory)
        return stack_mark_;
    stack_mark_ = stack_slot(builder_.getInt64Ty(), "stack.mark");
    llvm::IRBuilder<> behind(stack_mark_->getParent(), std::next(stack_mark_->getIterator()));
    behind.CreateStore(behind.getInt64(0), stack_mark_);
    return stack_mark_;
}

llvm::AllocaInst *FunctionFrame::call_slot(llvm::Type *type) {
    llvm::AllocaInst *&slot = call_slots_[type];
    if (!slot)
        slot = stack_slot(type, "call");
    return slot;
}

llvm::Value *FunctionFrame::load_member(llvm::Value *object, std::size_t offset, llvm::Type *type,
                                        const llvm::Twine &name) {
    llvm::Value *at = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), object, offset);
    return builder_.CreateLoad(type, at, name);
}

llvm::Value *FunctionFrame::worker_member(std::size_t offset) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), invariants.worker, offset);
}

// A number may be read at any time when a fault is reported: the store must stay at its position,
// but kernels need not load anything again after it, as a volatile store would require.
void FunctionFrame::store_in_place(llvm::Value *number, std::size_t offset) {
    llvm::Value *place = worker_member(offset);
    llvm::CallInst *store = target::store_in_place(builder_, number, place);
    store->addParamAttr(
        0, llvm::Attribute::get(code_.context, llvm::Attribute::ElementType, number->getType()));
    store->setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Mod));
    store->addFnAttr(llvm::Attribute::NoUnwind);
    store->addFnAttr(llvm::Attribute::WillReturn); // later code may move before it
    scopes_.mark_worker(*store);
}

void FunctionFrame::announce_warp(llvm::Value *warp) {
    store_in_place(warp, offsetof(rt::WorkerState, warp_index));
}

} // namespace softcuda::codegen
