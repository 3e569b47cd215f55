// generate.h -- from a prepared function and a launch shape to an object file.
#pragma once

#include "analysis/range.h"
#include "codegen/kernel_plan.h"
#include "ir/ir.h"
#include "jit/target.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::codegen {

/// The name of the entry in every object.
inline constexpr const char *kEntryName = "softcuda_kernel";

struct GeneratedKernel {
    std::vector<char> object;
    rt::Tier tier = rt::Tier::Regions; ///< decides which kind of entry the object has
    std::uint64_t scratch_bytes = 0;
    std::uint64_t instructions_per_block = 0;
    bool loops = false;
};

/// Shows a stage of the pipeline to somebody who wants to see it: its name, and what makes its
/// text.
using Dump = std::function<void(std::string_view stage, const std::function<std::string()> &text)>;

/// Compiles a function that transform::prepare() has prepared. Throws Unsupported
/// (kernel_plan.h) for what this shape needs and code cannot do. `callees` are all functions that
/// it calls, and those that they call; `files` the names that locations refer to.
[[nodiscard]] GeneratedKernel
generate(const ir::Function &function, std::span<const Callee> callees,
         const analysis::LaunchShape &launch, const TierRequest &request,
         std::span<const std::string> files, const jit::Target &target, const Dump &dump);

} // namespace softcuda::codegen
