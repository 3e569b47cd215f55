// print_operand.h -- operands and instructions as text.
#pragma once

#include "ptx/print_names.h"

#include <string>

namespace softcuda::ptx {

std::string print_operand(const Operand &operand, const PrintNames &names);

/// With the guard, without the `;`.
std::string print_instruction(const Instruction &instruction, const PrintNames &names);

} // namespace softcuda::ptx
