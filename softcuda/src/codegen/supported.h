// supported.h -- what generated code cannot do, found before anything is compiled.
#pragma once

#include "ir/ir.h"

#include <optional>
#include <string>

namespace softcuda::codegen {

struct UnsupportedInstruction {
    const ir::Instruction *instruction;
    std::string reason;
};

/// The first instruction that no launch of the function could run, if there is one.
[[nodiscard]] std::optional<UnsupportedInstruction> find_unsupported(const ir::Function &function);

} // namespace softcuda::codegen
