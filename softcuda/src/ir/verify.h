// verify.h -- does a function obey the rules that passes and code generation rely on?
#pragma once

#include "ir/ir.h"

#include <string>
#include <vector>

namespace softcuda::ir {

/// What is wrong, one line each with function, block and instruction; empty when all is well.
/// Checked: blocks and terminators, counts and classes of operands and results by the signatures of
/// opcodes.def, phis against predecessors, definitions before uses, constants, symbols' ranges.
[[nodiscard]] std::vector<std::string> verify(const Function &function,
                                              const Module *module = nullptr);
[[nodiscard]] std::vector<std::string> verify(const Module &module);

} // namespace softcuda::ir
