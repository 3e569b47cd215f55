// kernel_emitter.h -- one function that is being emitted: its plan, and the parts of its code.
//
// In the tier regions a function runs a range of a kernel's thread blocks (region_loops.cpp); in
// the other tiers it runs one warp, on its own stack (warp_entry.cpp). In both, a WarpEmitter emits
// the code of a warp. Each part has one subject:
//
//     code               constants, texts and functions of the runtime, for the whole LLVM module
//     frame              values that are known from the start of the function, and its stack slots
//     scratch            memory for values of each warp across barriers
//     block_values       values that all warps of a block share
//     privatized_tables  tables that replace a variable in which a region counts
//     columns            values of stores that are written at the end of a region
//     called_operations  operations that are functions in a large kernel
//     counts             counters of profiled kernels
//     debug_frame        data for a debugger
//     tier               how warps and lanes wait
#pragma once

#include "codegen/alias_scopes.h"
#include "codegen/block_values.h"
#include "codegen/called_operations.h"
#include "codegen/code_module.h"
#include "codegen/function_frame.h"
#include "codegen/privatized_tables.h"
#include "codegen/scratch_memory.h"
#include "codegen/supported.h"
#include "codegen/tier_code.h"
#include "jit/llvm.h"
#include "warp/kernel_plan.h"

#include <memory>
#include <string>

namespace softcuda::codegen {

using warp::KernelPlan;

class ColumnWriter;
class Counts;
class DebugFrame;

class KernelEmitter {
  public:
    KernelEmitter(CodeModule &module_code, const KernelPlan &plan_to_emit);
    ~KernelEmitter();

    /// Emits the function under `name`: a rt::KernelEntry or rt::WarpEntry, by the plan's tier.
    llvm::Function *emit(const std::string &name) { return tier.entry(*this, name); }
    /// Emits a function that kernels call, under the name that declare_function() gives it.
    void emit_function(std::uint32_t symbol);

    CodeModule &code;
    const KernelPlan &plan;
    const TierCode &tier;
    llvm::IRBuilder<> builder;
    AliasScopes scopes;
    FunctionFrame frame;
    ScratchMemory scratch;
    BlockValues block_values;
    PrivatizedTables privatized_tables;
    const std::unique_ptr<ColumnWriter> columns;
    CalledOperations called_operations;
    const std::unique_ptr<Counts> counts; ///< null if nothing is counted
    analysis::PatternTable patterns;
    unsigned next_site = 0; ///< for the next access whose range is checked (rt/known_ranges.h)

    /// Null unless the function is compiled for a debugger.
    [[nodiscard]] DebugFrame *debug_frame() const { return debug_frame_.get(); }
    /// Function `symbol` of the module, which emit_function() defines.
    llvm::Function *declare_function(std::uint32_t symbol);

    // For the code that emits a whole function:
    /// A function of (frame, worker, rest...).
    llvm::Function *new_function(const std::string &name, llvm::ArrayRef<llvm::Type *> rest);
    /// The attributes that all functions of the kernel have.
    void give_attributes(llvm::Function &function) const;
    /// Emits the common beginning of all functions.
    void read_frame();
    void begin_debug_frame(llvm::Value *warp);
    /// The existing lanes: all, and those of the block's last warp. <32 x i1>
    [[nodiscard]] llvm::Constant *all_lanes_active();
    [[nodiscard]] llvm::Constant *last_warps_lanes(); ///< for fixed extents
    /// The existing lanes of any warp of a block whose extents vary.
    [[nodiscard]] llvm::Value *lanes_of(llvm::Value *warp);

  private:
    std::unique_ptr<DebugFrame> debug_frame_;
};

} // namespace softcuda::codegen
