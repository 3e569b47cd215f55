// supported.h -- instructions that generated code does not support, found before compilation.
#pragma once

#include "ir/ir.h"

#include <optional>
#include <stdexcept>
#include <string>

namespace softcuda::codegen {

/// Thrown if a launch needs a feature that generated code does not support.
class Unsupported : public std::runtime_error {
  public:
    Unsupported(const std::string &what, const ir::Instruction &instruction)
        : std::runtime_error(what), location(instruction.location) {}
    ir::Location location;
};

struct UnsupportedInstruction {
    const ir::Instruction *instruction;
    std::string reason;
};

/// The first instruction that no launch of the function could run, if there is one.
[[nodiscard]] std::optional<UnsupportedInstruction> find_unsupported(const ir::Function &function);

} // namespace softcuda::codegen
