// refuse_unsupported.h -- errors for instructions that code generation does not support.
#pragma once

#include "ir/ir.h"
#include "support/diagnostics.h"
#include "support/source.h"

namespace softcuda::compiler {

/// Adds an error for the first unsupported instruction of each function of the module.
void refuse_unsupported(const ir::Module &module, const SourceText &source,
                        Diagnostics &diagnostics);

} // namespace softcuda::compiler
