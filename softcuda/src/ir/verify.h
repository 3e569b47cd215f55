// verify.h -- verifies the rules that passes and code generation rely on.
#pragma once

#include "ir/ir.h"

#include <string>
#include <vector>

namespace softcuda::ir {

/// The violations, one line each with function, basic block and instruction; empty if there are
/// none. Checked: basic blocks and terminators, counts and classes of operands and results by the
/// signatures of opcodes.def, phis against predecessors, definitions before uses, constants,
/// symbols' ranges.
[[nodiscard]] std::vector<std::string> verify(const Function &function,
                                              const Module *module = nullptr);
[[nodiscard]] std::vector<std::string> verify(const Module &module);

} // namespace softcuda::ir
