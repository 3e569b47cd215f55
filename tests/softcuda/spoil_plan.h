// spoil_plan.h -- inserts errors in plans of a small kernel, for tests of verifiers.
#pragma once

#include "check.h"

#include "compiler/pipeline.h"
#include "ir/parse_ir.h"
#include "warp/kernel_plan.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace test {

using Spoil = std::function<void(softcuda::warp::KernelPlan &plan)>;
using Verify = std::vector<std::string> (*)(const softcuda::warp::KernelPlan &plan);

/// The errors that `verify` finds in a complete plan of a kernel after `spoil` has changed it.
inline std::string wrong_after(const char *kernel, softcuda::analysis::LaunchShape launch,
                               Verify verify, const Spoil &spoil) {
    using namespace softcuda;
    std::string error;
    const std::unique_ptr<ir::Module> module = ir::parse_ir(kernel, error);
    if (!module)
        return error;
    ir::Function &function = *module->functions.front();
    compiler::run_ir_pass("preparation", function, launch);
    function.renumber_values();
    warp::KernelPlan plan(function, launch, {}, {});
    compiler::analyze(plan);
    spoil(plan);
    std::string found;
    for (const std::string &line : verify(plan))
        found += line + "\n";
    return found;
}

inline bool finds(const char *what, const std::string &found) {
    if (found.find(what) != std::string::npos)
        return true;
    std::printf("expected \"%s\", found \"%s\"\n", what, found.c_str());
    return false;
}

} // namespace test
