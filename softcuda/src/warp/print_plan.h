// print_plan.h -- the results of the analyses as text: the IR with comments.
#pragma once

#include "warp/kernel_plan.h"

#include <string>

namespace softcuda::warp {

/// A shape as text: `uniform`, `step 4`, `2 groups, step 1`, `offsets 0 1 2 3 0 1 2 3 ...`,
/// `divergent`; then `, multiple of 16` if that is known for the first lane of each group, and `,
/// unless wrapped` if code must test it.
[[nodiscard]] std::string to_text(const analysis::Shape &shape);

[[nodiscard]] std::string print_dominators(const KernelPlan &plan);
[[nodiscard]] std::string print_loops(const KernelPlan &plan);
[[nodiscard]] std::string print_ranges(const KernelPlan &plan);
[[nodiscard]] std::string print_divergence(const KernelPlan &plan);
[[nodiscard]] std::string print_shapes(const KernelPlan &plan);
[[nodiscard]] std::string print_schedule(const KernelPlan &plan);
[[nodiscard]] std::string print_waits(const KernelPlan &plan);
[[nodiscard]] std::string print_loop_ends(const KernelPlan &plan);
[[nodiscard]] std::string print_used_bytes(const KernelPlan &plan);
[[nodiscard]] std::string print_coordinates(const KernelPlan &plan);
[[nodiscard]] std::string print_float_bits(const KernelPlan &plan);
[[nodiscard]] std::string print_split_exchange(const KernelPlan &plan);
/// The line: kernel `name`: tier, reason (place).
[[nodiscard]] std::string print_tier(const KernelPlan &plan);
[[nodiscard]] std::string print_outliving(const KernelPlan &plan);
[[nodiscard]] std::string print_local_memory(const KernelPlan &plan);
[[nodiscard]] std::string print_regions(const KernelPlan &plan);
[[nodiscard]] std::string print_reaching_threads(const KernelPlan &plan);
[[nodiscard]] std::string print_crossings(const KernelPlan &plan);
[[nodiscard]] std::string print_active_warps(const KernelPlan &plan);
[[nodiscard]] std::string print_counted(const KernelPlan &plan);
[[nodiscard]] std::string print_race_free(const KernelPlan &plan);
[[nodiscard]] std::string print_warp_order(const KernelPlan &plan);
[[nodiscard]] std::string print_lockstep(const KernelPlan &plan);

/// The plan after each load, store and atomic.
[[nodiscard]] std::string print_access_plans(const KernelPlan &plan);

} // namespace softcuda::warp
