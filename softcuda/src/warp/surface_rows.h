// surface_rows.h -- accesses to surfaces that are like those to contiguous memory.
#pragma once

#include "warp/kernel_plan.h"

namespace softcuda::warp {

/// The groups of lanes of which each accesses adjacent places in one row of a surface, if the
/// places are inside; 0: the instruction has no such form, or is reported to a check mode, and the
/// runtime executes it.
[[nodiscard]] unsigned surface_groups(const KernelPlan &plan, const ir::Instruction &i);

} // namespace softcuda::warp
