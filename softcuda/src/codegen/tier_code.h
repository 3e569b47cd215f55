// tier_code.h -- the code of a kernel that differs between tiers: one row of functions for each.
//
// All other emitters are the same in all tiers; they read the plans.
#pragma once

#include "ir/ir.h"
#include "jit/llvm.h"
#include "rt/kernel_abi.h"

#include <functional>
#include <string>

namespace softcuda::codegen {

class KernelEmitter;
class WarpEmitter;

/// Called at a barrier with the number of the region that follows; emits the exit.
using BarrierExit = std::function<void(unsigned region)>;

struct TierCode {
    /// Emits the kernel's function: a rt::KernelEntry, or a rt::WarpEntry.
    llvm::Function *(*entry)(KernelEmitter &kernel, const std::string &name);
    /// Emits a warp's path through a region from the builder's position on. The warp leaves to
    /// `done`.
    void (*flow)(WarpEmitter &w, llvm::BasicBlock *done, const BarrierExit &at_barrier);
    /// A barrier of the thread block: the values that a warp saves there, and its wait.
    void (*barrier)(WarpEmitter &w, const ir::Instruction &i);
    /// nanosleep.
    void (*sleep)(WarpEmitter &w, const ir::Instruction &i);
    bool own_stacks; ///< each warp has a stack, below which there is a guard page
};

[[nodiscard]] const TierCode &code_of(rt::Tier tier);

// The functions of the rows, each declared under the file that defines it.
llvm::Function *emit_block_range(KernelEmitter &kernel,
                                 const std::string &name);                  // region_loops.cpp
llvm::Function *emit_fiber(KernelEmitter &kernel, const std::string &name); // warp_entry.cpp
llvm::Function *emit_fiber_of_lanes(KernelEmitter &kernel, const std::string &name);
void emit_warp_flow(WarpEmitter &w, llvm::BasicBlock *done, const BarrierExit &at_barrier);
void emit_lane_flow(WarpEmitter &w, llvm::BasicBlock *done, const BarrierExit &at_barrier);
void emit_region_barrier(WarpEmitter &w, const ir::Instruction &i); // emit_barrier.cpp
void emit_fiber_barrier(WarpEmitter &w, const ir::Instruction &i);
void emit_lane_barrier(WarpEmitter &w, const ir::Instruction &i);
void emit_worker_sleep(WarpEmitter &w, const ir::Instruction &i);
void emit_fiber_sleep(WarpEmitter &w, const ir::Instruction &i);

} // namespace softcuda::codegen
