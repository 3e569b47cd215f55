// check.h -- whether an instruction's operands fit its form.
#pragma once

#include "ptx/context.h"

namespace softcuda::ptx {

/// Settles which of the forms that fit its spelling an instruction has, by its operands, and sets
/// its form and modifiers. Reports what is wrong and gives false if none fits.
bool check_instruction(Context &context, const Function &function, const SpellingMatch &match,
                       Instruction &instruction);

} // namespace softcuda::ptx
