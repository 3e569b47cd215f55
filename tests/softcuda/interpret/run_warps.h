// run_warps.h -- the interpreter of values of the warp program.
//
// Each warp of a block runs the plans (warp/kernel_plan.h) as code generation emits them: masks,
// joins, regions with what they keep and fetch, places of lanes, shapes, access plans. What a plan
// claims is checked against the values of the lanes: a claim that does not hold is an Outcome of
// the kind Wrong.
#pragma once

#include "interpret/machine.h"
#include "interpret/outcome.h"
#include "warp/kernel_plan.h"

#include <cstdint>
#include <map>

namespace softcuda::interpret {

/// A kernel's plan, and those of the functions that it calls, by their number in the module.
struct WarpProgram {
    const warp::KernelPlan *kernel = nullptr;
    std::map<std::uint32_t, const warp::KernelPlan *> functions;
};

/// Runs a launch in the tier of its plan. What the kernel stores is in `launch.memory`.
[[nodiscard]] Outcome run_warps(const WarpProgram &program, Launch &launch);

} // namespace softcuda::interpret
