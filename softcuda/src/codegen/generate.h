// generate.h -- from plans of a kernel and of the functions that it calls to LLVM IR.
#pragma once

#include "jit/llvm_module.h"
#include "jit/target.h"
#include "warp/kernel_plan.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace softcuda::codegen {

/// The name of the entry in every object.
inline constexpr const char *kEntryName = "softcuda_kernel";

/// And of a function that a kernel calls: the prefix with its number in the module.
inline constexpr const char *kFunctionPrefix = "softcuda_function.";
[[nodiscard]] std::optional<std::uint32_t> function_number(std::string_view symbol);

/// A function that a kernel calls, by its number in the module.
struct CalleePlan {
    std::uint32_t symbol = 0;
    std::unique_ptr<warp::KernelPlan> plan;
};

struct Generated {
    jit::LlvmModule module;
    std::uint64_t scratch_bytes = 0; ///< of the kernel's scratch memory
};

/// Makes one LLVM module from a kernel and all functions that it calls, directly or not. All
/// analyses have run on the plans. Throws Unsupported (supported.h) for features of a launch that
/// generated code does not support.
[[nodiscard]] Generated generate(const warp::KernelPlan &plan, std::span<const CalleePlan> callees,
                                 const jit::Target &target);

} // namespace softcuda::codegen
