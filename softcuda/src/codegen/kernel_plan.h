// kernel_plan.h -- all that the passes know of a prepared function for one launch.
#pragma once

#include "analysis/shape.h"
#include "codegen/choose_tier.h"
#include "transform/find_waits.h"
#include "transform/schedule.h"

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace softcuda::codegen {

/// A kernel asks for something that generated code cannot do (yet).
class Unsupported : public std::runtime_error {
  public:
    Unsupported(const std::string &what, const ir::Instruction &instruction)
        : std::runtime_error(what), location(instruction.location) {}
    ir::Location location;
};

/// True for a kernel that needs a call stack in local memory: it calls functions, or has an alloca.
[[nodiscard]] bool needs_call_stack(const ir::Function &kernel);
/// Bytes of local memory that a thread of the kernel needs for the kernel's own variables.
[[nodiscard]] std::uint64_t local_memory_of(const ir::Function &kernel);

/// A function that a kernel calls, prepared like a kernel, and its number in the module.
struct Callee {
    std::uint32_t symbol = 0;
    const ir::Function *function = nullptr;
};

struct KernelPlan {
    KernelPlan(const ir::Function &function, const analysis::LaunchShape &launch,
               const TierRequest &request, std::span<const std::string> files);

    const ir::Function &function;
    analysis::LaunchShape launch;
    std::span<const std::string> files; ///< names of source files, by Location::file
    ir::DominatorTree dominators, post_dominators;
    analysis::LoopForest loops;
    analysis::Divergence divergence;
    transform::Schedule schedule;
    transform::Waits waits;
    TierChoice tier;
    std::uint64_t local_stride; ///< bytes of local memory of a thread, those it calls included
    std::uint64_t frame_bytes;  ///< of those the function's own variables
    bool takes_memory;          ///< the function has an alloca
    /// The function is so large that its code had better be short: loops over the lanes in the
    /// place of one access for each.
    bool wants_short_code;
    std::vector<std::uint32_t> ending;      ///< TierRequest::ending
    std::vector<bool> coordinate_functions; ///< by Value::id, see find_coordinate_functions()
    std::vector<bool> outlives_block;       ///< by Value::id: used outside its block, or by a phi

    /// `file:line` of an instruction.
    [[nodiscard]] std::string place(const ir::Instruction &instruction) const;
    /// True if lanes that call the function may not come back.
    [[nodiscard]] bool may_end_in(std::uint32_t symbol) const;
    /// True for the source of a back edge on which a warp of the fiber tier gives way to others.
    [[nodiscard]] bool yields_behind(const ir::Block *block) const;
};

} // namespace softcuda::codegen
