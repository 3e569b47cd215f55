// plan_functions.h -- plans of a kernel and of the functions that it calls, which fit together.
#pragma once

#include "compiler/pipeline.h"
#include "warp/choose_tier.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace softcuda::compiler {

/// Plans a function. The last parameter is KernelPlan::kernel_stride.
using MakePlan = std::function<std::unique_ptr<warp::KernelPlan>(
    const ir::Function &, const warp::TierRequest &, std::optional<std::uint64_t>)>;

/// Sets the plans of `made`, whose first function is the kernel. If lanes of a warp may wait for
/// each other in different functions, all of them run in the tier lanes, and each lane of a call
/// runs by itself (warp/find_apart.h).
void plan_functions(PlannedKernel &made, std::span<const warp::Callee> callees,
                    const warp::TierRequest &request, const MakePlan &make);

} // namespace softcuda::compiler
