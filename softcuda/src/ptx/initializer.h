// initializer.h -- the initialiser of a variable.
#pragma once

#include "ptx/context.h"

namespace softcuda::ptx {

/// Reads the initialiser after the `=` to `variable`, whose type and dimensions are known. An
/// outermost dimension of 0 becomes the length of the list.
void parse_initializer(Context &context, Variable &variable);

} // namespace softcuda::ptx
