// llvm_passes.h -- the passes on LLVM IR after code generation.
#pragma once

#include "compiler/pass_options.h"
#include "compiler/pipeline.h"
#include "jit/optimize.h"

#include <span>
#include <string_view>
#include <vector>

namespace softcuda::compiler {

struct LlvmStep {
    std::string_view name;
    Need need;
    std::string_view source, what;
    void (*add)(jit::PassList &list);
};

/// All, in their order; some run twice.
[[nodiscard]] std::span<const LlvmStep> llvm_steps();

/// Those that run on this module: for a debugger only the required ones, and for huge functions
/// those whose time does not grow faster than the function.
[[nodiscard]] std::vector<jit::LlvmPass> passes_for(ir::Purpose purpose, const llvm::Module &module,
                                                    const PassOptions &options);

} // namespace softcuda::compiler
