// check_modifiers.h -- combinations of modifiers that the table's rows cannot rule out.
#pragma once

#include "ptx/modifiers.h"

#include <string>

namespace softcuda::ptx {

/// The error of this combination of modifiers; empty if it is valid.
std::string check_modifiers(Opcode opcode, const Modifiers &modifiers);

} // namespace softcuda::ptx
