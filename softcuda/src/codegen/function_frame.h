// function_frame.h -- the LLVM function that is being emitted: its values from the start, and its
// stack memory.
#pragma once

#include "codegen/alias_scopes.h"
#include "codegen/code_module.h"
#include "warp/kernel_plan.h"

#include <cstddef>
#include <map>

namespace softcuda::codegen {

/// Of a fixed-point reciprocal (Invariants::reciprocal). The quotient of two numbers up to 1024 is
/// exact: the error of the reciprocal is below 1 / 2^20, so that of the quotient is below 1 / 1024.
inline constexpr unsigned kReciprocalBits = 20;

/// What generated code reads at the start of a launch or of a block.
struct Invariants {
    llvm::Value *frame, *worker;
    llvm::Value *params, *symbols;
    llvm::Value *global_base, *global_size;
    llvm::Value *grid[3], *dynamic_shared, *grid_id, *graph_exec, *workspace;
    llvm::Value *cluster[3], *explicit_cluster;
    /// blockDim, the threads of a block and its warps: constants if the extents are fixed.
    llvm::Value *extent[3], *threads, *warps;
    /// For x and y, to divide thread numbers: 2^20 / extent, rounded up. Null if they are fixed.
    llvm::Value *reciprocal[2];
    llvm::Value *shared, *local, *scratch;
    llvm::Value *worker_id, *worker_count;
    llvm::Value *block[3];     ///< blockIdx, changes from block to block
    llvm::Value *launch_index; ///< of the block, in the grid's order; for warps as fibers
    // In a function that is called (emit_function.cpp), otherwise null:
    llvm::Value *depth;     ///< i64: the start of its local variables in a thread's local memory
    llvm::Value *call_area; ///< its arguments and results
};

class FunctionFrame {
  public:
    /// While it exists, code of another function is emitted, whose block has the shared memory
    /// `shared`.
    class Elsewhere {
      public:
        Elsewhere(FunctionFrame &frame, llvm::Function *function, llvm::Value *shared);
        Elsewhere(const Elsewhere &) = delete;
        ~Elsewhere();

      private:
        FunctionFrame &frame_;
        llvm::IRBuilderBase::InsertPointGuard position_;
        llvm::Function *function_;
        llvm::Value *shared_;
    };

    FunctionFrame(CodeModule &code, llvm::IRBuilder<> &builder, AliasScopes &scopes,
                  const warp::KernelPlan &plan);

    Invariants invariants{};

    /// Emission of the function begins.
    void begin(llvm::Function *function);
    [[nodiscard]] llvm::Function *function() const { return function_; }
    [[nodiscard]] llvm::BasicBlock *new_block(const llvm::Twine &name);
    /// Emits the loads of all invariants except those of the block.
    void read();
    /// Emits the block's invariants: `index` is the linear index of the block, an i64.
    void read_block_index(llvm::Value *index);
    /// In a group of blocks along x, whose first block has the invariants `first` and the linear
    /// index `index`: emits the invariants of the block at `distance`, an i32, and tells the
    /// runtime which block runs.
    void enter_block(llvm::Value *first, llvm::Value *index, llvm::Value *distance);

    /// Stack memory that exists as long as the function runs.
    llvm::AllocaInst *stack_slot(llvm::Type *type, const llvm::Twine &name = "");
    /// Stack memory for one call at a time: the same for all calls that need this type.
    llvm::AllocaInst *call_slot(llvm::Type *type);
    /// An i64 on the stack: the highest end of local memory that a lane of this function has
    /// reached with alloca. Null in a function without alloca.
    llvm::AllocaInst *stack_mark();

    /// The address of a member of WorkerState.
    [[nodiscard]] llvm::Value *worker_member(std::size_t offset);
    /// Tells the runtime which warp runs: before code that it may report.
    void announce_warp(llvm::Value *warp);

  private:
    void read_extents();
    void store_in_place(llvm::Value *number, std::size_t offset);
    [[nodiscard]] llvm::Value *load_member(llvm::Value *object, std::size_t offset,
                                           llvm::Type *type, const llvm::Twine &name);

    CodeModule &code_;
    llvm::IRBuilder<> &builder_;
    AliasScopes &scopes_;
    const warp::KernelPlan &plan_;
    llvm::Function *function_ = nullptr;
    std::map<llvm::Type *, llvm::AllocaInst *> call_slots_;
    llvm::AllocaInst *stack_mark_ = nullptr;
};

} // namespace softcuda::codegen
