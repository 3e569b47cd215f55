// pipeline.h -- the stages of compilation, and all passes by name.
#pragma once

#include "analysis/range.h"
#include "codegen/generate.h"
#include "ir/ir.h"
#include "ir/lower.h"
#include "jit/object_cache.h"
#include "jit/optimize.h"
#include "warp/choose_tier.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::compiler {

enum class Layer : std::uint8_t {
    Ir,       ///< changes the IR of one function
    Analysis, ///< analyses a prepared function
    Llvm,     ///< changes LLVM IR
};
[[nodiscard]] std::string_view text(Layer layer);

/// Whether compiled code is correct without a pass.
enum class Need : std::uint8_t { Required, Optional };

struct PassInfo {
    std::string_view name;
    Layer layer;
    Need need;
    std::string_view source; ///< its files under softcuda/src, separated by blanks; or LLVM
    std::string_view what;   ///< one sentence
};

/// Every pass once, in the order of their first runs.
[[nodiscard]] std::span<const PassInfo> passes();

/// A kernel as LLVM IR before all LLVM passes, and its properties for the driver.
struct LlvmKernel {
    jit::LlvmModule module;
    rt::Tier tier = rt::Tier::Regions; ///< determines the type of the object's entry
    std::uint64_t scratch_bytes = 0;
    std::uint64_t instructions_per_block = 0;
    bool loops = false;
    std::uint32_t group_blocks = 1; ///< see warp/block_groups.h
};

struct GeneratedKernel {
    std::vector<char> object;
    std::string object_key; ///< of the object in the disk cache; see compiler/kernel_cache.h
    rt::Tier tier = rt::Tier::Regions;
    std::uint64_t scratch_bytes = 0;
    std::uint64_t instructions_per_block = 0;
    bool loops = false;
    std::uint32_t group_blocks = 1; ///< see warp/block_groups.h
};

/// Compiles PTX text to verified IR. Null, with the diagnostics in `log`, if the text is invalid or
/// uses an unsupported feature; warnings are written to `log`, too. `architecture`, unless null, is
/// set to the number of the text's .target: 80 for sm_80.
[[nodiscard]] std::unique_ptr<ir::Module> read_ptx(std::string_view ptx, std::string &log,
                                                   unsigned *architecture = nullptr);

/// The passes that read_ptx() runs over each function of ir::lower().
void clean_up(ir::Module &module);

/// A kernel and the functions that it calls, prepared and planned for one launch shape: the warp
/// program. It refers to the module.
struct PlannedKernel {
    std::vector<std::unique_ptr<ir::Function>> functions; ///< the kernel first
    std::unique_ptr<warp::KernelPlan> plan;
    std::vector<codegen::CalleePlan> callees;
};
[[nodiscard]] PlannedKernel plan_kernel(const ir::Module &module, const ir::Function &kernel,
                                        const analysis::LaunchShape &launch,
                                        const warp::TierRequest &request,
                                        const jit::Target &target);

/// Compiles a kernel of `module` to LLVM IR for one launch shape. Throws codegen::Unsupported
/// (codegen/supported.h) if this shape needs an unsupported feature.
[[nodiscard]] LlvmKernel make_llvm(const ir::Module &module, const ir::Function &kernel,
                                   const analysis::LaunchShape &launch,
                                   const warp::TierRequest &request, const jit::Target &target);

/// The LLVM passes for a module that SOFTCUDA_SKIP does not skip, in order; for a debugger, only
/// those without which code would be wrong.
[[nodiscard]] std::vector<jit::LlvmPass> llvm_passes(const llvm::Module &module,
                                                     ir::Purpose purpose = ir::Purpose::Speed);

/// Optimises the kernel of make_llvm() and generates its machine code. Consumes the LLVM IR. If
/// `cache` has the object of equal LLVM IR, LLVM does nothing; otherwise the object is stored.
[[nodiscard]] GeneratedKernel finish_kernel(const LlvmKernel &made, const ir::Function &kernel,
                                            const jit::Target &target,
                                            const jit::ObjectCache &cache = {});

/// Compiles a kernel of `module` to machine code for one launch shape; throws like make_llvm().
[[nodiscard]] inline GeneratedKernel compile_kernel(const ir::Module &module,
                                                    const ir::Function &kernel,
                                                    const analysis::LaunchShape &launch,
                                                    const warp::TierRequest &request,
                                                    const jit::Target &target) {
    return finish_kernel(make_llvm(module, kernel, launch, request, target), kernel, target);
}

/// The passes that SOFTCUDA_SKIP names, for the keys of compiled code; empty if there are none.
[[nodiscard]] std::string skipped_passes();
/// True if SOFTCUDA_DUMP requests output that only a compilation can print.
[[nodiscard]] bool wants_dumps();

// For text tests:

/// Runs the IR pass `name` once over a function, or a list of passes: `clean-up`, `specialization`,
/// `preparation`. False if there is none with this name.
bool run_ir_pass(std::string_view name, ir::Function &function,
                 const analysis::LaunchShape &launch);
/// Runs all analyses over the plan of a prepared function.
void analyze(warp::KernelPlan &plan);
/// Prepares a function and runs the analyses up to `name`. Returns the text that SOFTCUDA_DUMP
/// prints after it; empty if there is no such analysis.
[[nodiscard]] std::optional<std::string>
print_analysis(std::string_view name, ir::Function &function, const analysis::LaunchShape &launch);

} // namespace softcuda::compiler
