// check_modifiers.h -- combinations of modifiers that the table's rows cannot rule out.
#pragma once

#include "ptx/modifiers.h"

#include <string>

namespace softcuda::ptx {

/// What is wrong with these modifiers together; empty if nothing is.
std::string check_modifiers(Opcode opcode, const Modifiers &modifiers);

} // namespace softcuda::ptx
