// check.h -- whether an instruction's operands fit its form.
#pragma once

#include "ptx/context.h"

namespace softcuda::ptx {

/// Selects the form of an instruction, by its operands, among the forms that match its spelling.
/// Sets form and modifiers. Reports an error and returns false if no form matches.
bool check_instruction(Context &context, const Function &function, const SpellingMatch &match,
                       Instruction &instruction);

} // namespace softcuda::ptx
