// kernel_plan.h -- the results of all analyses of a prepared function for one launch.
//
// A plan starts with the request. Each analysis reads the results of earlier analyses and adds its
// own; compiler/pipeline.cpp has their order. Code generation only reads a plan.
#pragma once

#include "analysis/cfg.h"
#include "analysis/float_bits.h"
#include "analysis/lockstep.h"
#include "analysis/shape.h"
#include "analysis/thread_values.h"
#include "transform/find_waits.h"
#include "transform/schedule.h"
#include "warp/access_plan.h"
#include "warp/block_groups.h"
#include "warp/choose_tier.h"
#include "warp/lane_plan.h"
#include "warp/mask_plan.h"
#include "warp/region_plan.h"
#include "warp/whole_warps.h"
#include "warp/written_slots.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace softcuda::warp {

/// True for a kernel that needs a call stack in local memory: it calls functions, or has an alloca.
[[nodiscard]] bool needs_call_stack(const ir::Function &kernel);
/// Bytes of local memory that a thread of the kernel needs for the kernel's own variables.
[[nodiscard]] std::uint64_t local_memory_of(const ir::Function &kernel);
/// The same for the variables of the functions that it calls; the call stack of a recursion is
/// apart.
[[nodiscard]] std::uint64_t call_memory_of(const ir::Function &kernel);

struct KernelPlan {
    /// The function and the spans' elements must outlive the plan.
    KernelPlan(const ir::Function &function, const analysis::LaunchShape &launch,
               const TierRequest &request, std::span<const std::string> files,
               const Machine &machine = {}, std::span<const ir::GlobalVariable> variables = {});
    KernelPlan(const KernelPlan &) = delete; // its members refer to each other

    const ir::Function &function;
    analysis::LaunchShape launch;
    TierRequest request;
    std::span<const std::string> files; ///< names of source files, by Location::file
    Machine machine;
    std::span<const ir::GlobalVariable> variables; ///< of the module; empty: unknown
    /// For a called function: the kernel's local_stride.
    std::optional<std::uint64_t> kernel_stride;

    ir::DominatorTree dominators, post_dominators;
    analysis::LoopForest loops;
    std::vector<analysis::Range> ranges; ///< by Value::id
    analysis::Divergence divergence;
    transform::Schedule schedule;
    std::vector<transform::LoopEnd> loop_ends; ///< by loop; empty if no loop is known to end
    transform::Waits waits;
    std::vector<bool> coordinate_functions; ///< by Value::id, see find_coordinate_functions()
    analysis::ThreadValues thread_values;
    analysis::FloatBits float_bits;
    /// By Value::id, for the check mode `init`; empty in other kernels.
    std::vector<std::uint16_t> used_bytes;
    /// Of a kernel that reports the order of its accesses: as written_slots().
    std::uint64_t written_slots = kAllSlots;
    /// An exchange whose members may come from several places; null: none.
    const ir::Instruction *split_exchange = nullptr;
    TierChoice tier;
    /// By Value::id: used outside its basic block, by a phi, or, in the tier lanes, at another
    /// place than the defining one. Code stores such values in memory.
    std::vector<bool> outlives_block;
    std::vector<bool> is_read; ///< by Value::id: code for an instruction reads the value

    std::uint64_t local_stride =
        0; ///< bytes of local memory of a thread, including called functions
    std::uint64_t frame_bytes = 0; ///< the part for the function's own variables
    bool takes_memory = false;     ///< the function has an alloca
    /// The function is so large that short code is better: a loop over the lanes instead of one
    /// access for each lane.
    bool wants_short_code = false;
    /// It is larger still: an access that needs code for each lane is a call of the runtime.
    bool calls_accesses = false;
    /// The function has so many atomics that each is a call of a function for its operation.
    bool calls_atomics = false;

    /// The code that a warp runs between two barriers. Region 0 starts at the entry, the others
    /// after a barrier. Only the tier of regions has more than one, and only for blocks of several
    /// warps.
    std::vector<Region> regions;
    analysis::Lockstep lockstep; ///< if it holds, all warps are in the same region
    BlockGroups groups;          ///< the order of the blocks of a worker
    /// By Block::id: the threads that may run the basic block. Empty: unknown.
    std::vector<LanesByWarp> reaching_threads;
    MaskPlan masks;
    LanePlan lanes;       ///< the places of lanes; empty unless the tier is lanes
    AccessPlans accesses; ///< for every load, store and atomic
    WholeWarps whole_warps;

    /// `file:line` of an instruction.
    [[nodiscard]] std::string place(const ir::Instruction &instruction) const;
    /// How often a warp of the fiber tier lets other warps run behind the basic block, which is the
    /// source of a loop's back edge.
    enum class Yield : std::uint8_t {
        Never,     ///< no back edge, or the loop counts
        Sometimes, ///< after many iterations: the loop has no bounded trip count
        Always,    ///< the loop may wait
    };
    std::vector<Yield> yields; ///< by Block::id
    /// False if the thread's index decides that the thread does not run the basic block.
    [[nodiscard]] bool may_come_to(const ir::Block *block, std::size_t thread) const;
    /// Whether each lane that calls a function runs it by itself (rt/lane_calls.h). Functions are
    /// then called by one lane, and call others directly.
    [[nodiscard]] bool makes_calls_apart() const { return request.calls_apart && function.kernel; }
    /// False if no warp waits for another warp, or if warps wait as fibers.
    [[nodiscard]] bool has_regions() const { return regions.size() > 1; }
};

// The analyses. Each sets the members with its name.
void find_dominators(KernelPlan &plan);
void find_loops(KernelPlan &plan);
void find_ranges(KernelPlan &plan);
void find_shapes(KernelPlan &plan);
void plan_schedule(KernelPlan &plan);
void find_loop_ends(KernelPlan &plan);
void find_waits(KernelPlan &plan);
void find_coordinates(KernelPlan &plan);
void find_float_bits(KernelPlan &plan);
void find_used_bytes(KernelPlan &plan);
void find_split_exchange(KernelPlan &plan);
void choose_tier(KernelPlan &plan);
/// In the tier lanes: computes the shapes again, for lanes that run the program independently.
void find_shapes_of_lanes(KernelPlan &plan);
void find_reaching_threads(KernelPlan &plan);
void find_outliving(KernelPlan &plan);
void lay_out_local_memory(KernelPlan &plan);
void find_lockstep(KernelPlan &plan);

/// The loops that may keep the threads for which they wait from running in the chosen tier, one
/// line each; empty if there are none.
[[nodiscard]] std::vector<std::string> verify_progress(const KernelPlan &plan);

} // namespace softcuda::warp
