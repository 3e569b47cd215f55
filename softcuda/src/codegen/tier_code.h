// tier_code.h -- what the code of a kernel has of its own in each tier: one row of functions.
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

/// Called at a barrier with the number of the region that follows; emits the way out.
using BarrierExit = std::function<void(unsigned region)>;

struct TierCode {
    /// Emits the kernel's function: a rt::KernelEntry, or a rt::WarpEntry.
    llvm::Function *(*entry)(KernelEmitter &kernel, const std::string &name);
    /// Emits a warp's way through a region from the builder's position on. The warp leaves to
    /// `done`.
    void (*flow)(WarpEmitter &w, llvm::BasicBlock *done, const BarrierExit &at_barrier);
    /// A barrier of the thread block: what a warp leaves there, and how it waits.
    void (*barrier)(WarpEmitter &w, const ir::Instruction &i);
    /// nanosleep.
    void (*sleep)(WarpEmitter &w, const ir::Instruction &i);
    bool own_stacks; ///< each warp has one, below which there is a guard page
};

[[nodiscard]] const TierCode &code_of(rt::Tier tier);

// The functions of the rows, each in the file of its subject.
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
