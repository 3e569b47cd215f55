// kernel_emitter.h -- the loops around a warp.
//
// In the region tier a function runs a range of a kernel's thread blocks:
//
//     entry(frame, worker, first, count)
//         read the frame                                 invariant in the launch
//         for block in first .. first + count            blockIdx
//             no barrier:    for warp: body
//             with barriers: next[warp] = region 0
//                            until all warps are done: run each warp's next region
//
//                            in lockstep: run all warps' region, go on to the next one
//
// A region is what a warp does from the start, or from behind a barrier, to the next barrier or the
// end. That all warps have run one region is the barrier. Values that a warp still needs behind the
// barrier are kept in WorkerState::scratch, an array over the warps each.
//
// In the others a function runs one warp, on a stack of its own that keeps all of this:
//
//     entry(frame, worker, block, warp)
#pragma once

#include "codegen/supported.h"
#include "jit/llvm.h"
#include "jit/target.h"
#include "warp/kernel_plan.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace softcuda::codegen {

using warp::KernelPlan;

class Counts;
class DebugFrame;
class SourceLines;
class Tallies;
struct Tally;

/// What generated code reads at the start of a launch or of a block.
struct Invariants {
    llvm::Value *frame, *worker;
    llvm::Value *params, *symbols;
    llvm::Value *global_base, *global_size;
    llvm::Value *grid[3], *dynamic_shared, *grid_id, *workspace;
    llvm::Value *cluster[3], *explicit_cluster;
    llvm::Value *shared, *local, *scratch;
    llvm::Value *worker_id, *worker_count;
    llvm::Value *block[3];     ///< blockIdx, changes from block to block
    llvm::Value *launch_index; ///< of the block, as the grid counts them; where warps are fibers
    // In a function that is called (emit_function.cpp), else null:
    llvm::Value *depth;     ///< i64: where its local variables begin in a thread's local memory
    llvm::Value *call_area; ///< its arguments and results
};

/// A place in the scratch memory for a value that lives across a barrier.
struct ScratchSlot {
    std::uint64_t offset; ///< of warp 0
    std::uint64_t stride; ///< bytes to the next warp
};

/// Places for a value that is the same for all warps: for those that read it in this region, and
/// for those that read it in the next one. LLVM makes registers of them.
struct BlockSlot {
    llvm::AllocaInst *now = nullptr, *next = nullptr;
};

class KernelEmitter {
  public:
    KernelEmitter(llvm::Module &module, const KernelPlan &plan, const jit::Target &target,
                  SourceLines &lines);
    ~KernelEmitter();

    /// Emits the function under `name`: a rt::KernelEntry or rt::WarpEntry, by the plan's tier.
    llvm::Function *emit(const std::string &name);
    /// Emits a function that kernels call, under the name that declare_function() gives it.
    void emit_function(std::uint32_t symbol);

    [[nodiscard]] std::uint64_t scratch_bytes() const { return scratch_bytes_; }

    // For the emitter of warps.
    llvm::Module &module;
    llvm::LLVMContext &context;
    const KernelPlan &plan;
    const jit::Target &target;
    SourceLines &lines;
    llvm::IRBuilder<> builder;
    Invariants invariants{};
    const std::unique_ptr<Counts> counts; ///< null where nothing is counted

    /// False where no warp ever waits for another, or waits as a fiber.
    [[nodiscard]] bool has_regions() const { return plan.has_regions(); }
    /// True if warps are fibers, and wait by a call.
    [[nodiscard]] bool has_fibers() const { return plan.tier.tier != rt::Tier::Regions; }
    /// What a debugger reads; null unless the function is compiled for one.
    [[nodiscard]] DebugFrame *debug_frame() const { return debug_frame_.get(); }
    /// True if each lane goes its own way through the program.
    [[nodiscard]] bool has_lanes() const { return plan.tier.tier == rt::Tier::Lanes; }
    /// Keys of scratch_slot(): a value's base, wrapped, correction (part 0, 1, 2), and a mask.
    [[nodiscard]] std::uint32_t scratch_id(const ir::Value *value, unsigned part) const;
    [[nodiscard]] std::uint32_t scratch_mask_id(const ir::Block *owner) const;
    ScratchSlot scratch_slot(std::uint32_t id, std::uint64_t bytes);
    /// Scratch memory for all warps together, a multiple of 64 bytes: its offset.
    std::uint64_t reserve_scratch(std::uint64_t bytes);
    llvm::Value *scratch_address(ScratchSlot slot, llvm::Value *warp);
    /// Values that are kept once for all warps.
    [[nodiscard]] llvm::Value *load_for_block(const ir::Value *value);
    void store_for_block(const ir::Value *value, llvm::Value *scalar);
    /// Says that an access is to a value in the scratch memory, where kernels' own accesses never
    /// go.
    llvm::Instruction *mark_scratch(llvm::Instruction *access);
    /// The tables of what `region` counts in; null if it does not.
    const Tally *tally(unsigned region);
    /// Stack space that lives as long as the function runs.
    llvm::AllocaInst *stack_slot(llvm::Type *type, const llvm::Twine &name = "");
    /// An i64 in stack space: how high lanes of this function have ever stood in the thread's local
    /// memory by alloca. Null in a function without alloca.
    llvm::AllocaInst *stack_mark();
    /// Stack space for one call at a time: the same for all calls that need this type.
    llvm::AllocaInst *call_slot(llvm::Type *type);
    /// A constant in memory, once for all equal ones.
    llvm::GlobalVariable *constant(llvm::Constant *value, const llvm::Twine &name);
    /// One that is not shared.
    llvm::GlobalVariable *own_constant(llvm::Constant *value, const llvm::Twine &name);
    llvm::FunctionCallee runtime_function(llvm::StringRef name, llvm::Type *result,
                                          llvm::ArrayRef<llvm::Type *> parameters);
    /// Function `symbol` of the module, which emit_function() defines.
    llvm::Function *declare_function(std::uint32_t symbol);
    /// A constant C string.
    llvm::Value *text(const std::string &text);
    [[nodiscard]] const analysis::LanePattern *pattern(const analysis::LanePattern &pattern) {
        return patterns_.intern(pattern);
    }
    [[nodiscard]] analysis::Shape refined(const analysis::Shape &shape, unsigned groups) {
        return analysis::refine(shape, groups, patterns_);
    }
    /// Loads a member of LaunchFrame or WorkerState.
    llvm::Value *load_member(llvm::Value *object, std::size_t offset, llvm::Type *type,
                             const llvm::Twine &name);
    /// Tells the runtime which warp runs: before what it may report.
    void announce_warp(llvm::Value *warp);
    /// For checked kernels: all warps, or those that have arrived, pass a barrier.
    void watch_pass(bool all);

  private:
    void begin_function(llvm::Function *function);
    void begin_debug_frame(llvm::Value *warp);
    llvm::Function *new_function(const std::string &name, llvm::ArrayRef<llvm::Type *> rest);
    void emit_block_range();
    void emit_one_warp();
    void read_frame();
    void read_block_index(llvm::Value *index);
    void emit_block(llvm::BasicBlock *next_block);
    void emit_generations(llvm::BasicBlock *next_block);
    void emit_in_lockstep(llvm::BasicBlock *next_block);
    void publish_barrier_sum();
    BlockSlot &block_slot(const ir::Value *value);
    void publish_block_values();
    /// Runs `region` for all warps, or for those whose next region it is; then goes on to `after`.
    void emit_warps(unsigned region, llvm::BasicBlock *after);
    /// For checked kernels: a warp arrives at a barrier.
    void watch_arrival();
    [[nodiscard]] llvm::Constant *all_lanes_active();
    [[nodiscard]] llvm::Constant *last_warps_lanes();
    void emit_full_warps(unsigned region, llvm::BasicBlock *after);
    void emit_some_warps(unsigned region, std::uint64_t bits, llvm::BasicBlock *after);
    void emit_warp_range(unsigned region, llvm::Value *first, llvm::Value *end,
                         llvm::Constant *active, llvm::BasicBlock *after);
    void emit_warp(unsigned region, llvm::Value *warp, llvm::Constant *active,
                   llvm::BasicBlock *after);
    void make_scopes();
    void separate_scopes();
    llvm::Value *worker_member(std::size_t offset);
    llvm::Value *next_region_slot(llvm::Value *array, llvm::Value *warp);
    llvm::BasicBlock *new_block(const llvm::Twine &name);

    llvm::Function *function_ = nullptr;
    std::map<std::uint32_t, ScratchSlot> slots_;
    std::map<llvm::Constant *, llvm::GlobalVariable *> constants_;
    std::map<llvm::Type *, llvm::AllocaInst *> call_slots_;
    llvm::AllocaInst *stack_mark_ = nullptr;
    std::uint64_t scratch_bytes_ = 0;
    std::unique_ptr<Tallies> tallies_;
    std::unique_ptr<DebugFrame> debug_frame_;
    analysis::PatternTable patterns_;
    llvm::Value *reading_ = nullptr, *writing_ = nullptr; ///< arrays of each warp's next region
    // Lists of alias scopes:
    llvm::MDNode *scratch_scope_ = nullptr, *worker_scope_ = nullptr, *both_scopes_ = nullptr;
    std::map<std::uint32_t, BlockSlot> block_slots_;
    std::set<std::uint32_t> stored_for_block_; ///< by the region that is being emitted
    llvm::AllocaInst *next_region_ = nullptr;  ///< in lockstep: where the block goes on
    llvm::AllocaInst *following_ = nullptr;    ///< bits of the regions that some warp goes on with
};

} // namespace softcuda::codegen
