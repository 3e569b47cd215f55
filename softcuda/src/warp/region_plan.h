// region_plan.h -- the regions of a kernel: the code between barriers, and the values stored across
// them.
//
// A region is the code of a warp from the start or from a barrier to the next barriers or to the
// end. Only the values that the plan stores outlive a region:
//
//     region 0: entry                       warps 0 1 2 3
//       b3 ends: to region 1, keep %5 %7, mask of b2
//     region 1: b4 behind b3                warps 0, quiet
//       fetch %5 for the block              one value for all warps
//       fetch %7 and set it                 the region defines %7 again
//       fetch mask of b2
//
// Code generation emits it line by line. verify_regions() walks warps through it.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace softcuda::warp {

struct KernelPlan;

/// A stored value that a region loads at its start.
struct Fetch {
    enum class From : std::uint8_t {
        Warp,  ///< each warp has stored its own
        Block, ///< one value, equal in all warps
    };
    const ir::Value *value = nullptr;
    From from = From::Warp;
    /// The region defines the value again, so its initial value is loaded into the same variable.
    bool set = false;
};

/// A barrier at which the region ends.
struct RegionEnd {
    const ir::Block *block = nullptr;
    unsigned region = 0; ///< the one that starts after it
    std::vector<const ir::Value *> keeps;
    std::vector<const ir::Block *> masks; ///< basic blocks whose masks are stored
};

/// A histogram: a variable in shared memory to which a region only adds, in a loop, and which no
/// thread reads before the end of the region. Sums of integers do not depend on the order, so code
/// generation may spread them over several tables (codegen/privatized_tables.h).
struct CountedVariable {
    const ir::LocalVariable *variable = nullptr;
    ir::Scalar type =
        ir::Scalar::None; ///< the type of the counters; the variable contains nothing else
};

struct Region {
    const ir::Block *entry = nullptr;
    const ir::Instruction *barrier =
        nullptr; ///< the barrier before the region; null: the kernel's start
    /// By Block::id: the basic blocks that a warp may run before the next barriers.
    std::vector<bool> blocks;
    std::vector<Fetch> fetches;
    std::vector<const ir::Block *> masks; ///< basic blocks whose masks are loaded
    bool arrives = false;                 ///< the lanes that reached the barrier are loaded, too
    std::vector<RegionEnd> ends;
    /// A bit for each warp of the thread block. Clear if the region has no effect for this warp. At
    /// least one bit is set.
    std::uint64_t active_warps = ~std::uint64_t{0};
    /// The region only computes, and accesses shared memory at addresses that are known to be
    /// valid. Nothing can fail, and no other thread can observe the order of the warps.
    bool quiet = false;
    std::optional<CountedVariable> counted;
    /// Its accesses to shared memory cannot race: all of them are plain loads, or all are atomics.
    bool race_free = false;
    /// The last warp runs first.
    bool descending = false;
};

/// True for values that are recomputed at each use instead of being stored: constants of the
/// launch, of the block and of the warp.
[[nodiscard]] bool is_rematerialized(const ir::Value *value);
/// True for values that are computed again in each region and each basic block that uses them.
[[nodiscard]] bool is_recomputed(const KernelPlan &plan, const ir::Value *value);
/// True for an instruction that other threads of the block cannot observe in shared memory:
/// accesses to other state spaces, barriers of the block, and instructions without memory accesses.
[[nodiscard]] bool leaves_shared_alone(const ir::Instruction &instruction);
/// The block-wide barrier at the end of a basic block; null if there is none.
[[nodiscard]] const ir::Instruction *barrier_at_end(const ir::Block *block);

// The analyses, in this order.
/// Finds the begins of regions. A kernel without barriers, or whose barriers are calls, has one
/// region.
void find_regions(KernelPlan &plan);
/// Plans the stored and loaded values. Masks and lockstep must be known.
void plan_crossings(KernelPlan &plan);
void find_active_warps(KernelPlan &plan);
void find_counted(KernelPlan &plan);
void find_race_free(KernelPlan &plan);
void order_warps(KernelPlan &plan);

/// The errors in the regions, one line each; empty if there are none.
[[nodiscard]] std::vector<std::string> verify_regions(const KernelPlan &plan);

} // namespace softcuda::warp
