// supported.h -- what generated code cannot do, found before anything is compiled.
#pragma once

#include "ir/ir.h"

#include <optional>
#include <stdexcept>
#include <string>

namespace softcuda::codegen {

/// Thrown where a launch asks for something that generated code cannot do.
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
