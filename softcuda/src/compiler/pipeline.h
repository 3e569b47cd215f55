// pipeline.h -- the stages of compilation, in order.
#pragma once

#include "codegen/generate.h"
#include "ir/ir.h"

#include <memory>
#include <string>
#include <string_view>

namespace softcuda::compiler {

/// PTX text to verified IR. Null, with the diagnostics in `log`, if the text is wrong or asks for
/// what the device cannot do; warnings go to `log` too.
[[nodiscard]] std::unique_ptr<ir::Module> read_ptx(std::string_view ptx, std::string &log);

/// A kernel of `module` to machine code for one launch shape.
[[nodiscard]] codegen::GeneratedKernel compile_kernel(const ir::Module &module,
                                                      const ir::Function &kernel,
                                                      const analysis::LaunchShape &launch,
                                                      const codegen::TierRequest &request,
                                                      const jit::Target &target);

} // namespace softcuda::compiler
