// initializer.h -- the values that a variable begins with.
#pragma once

#include "ptx/context.h"

namespace softcuda::ptx {

/// Reads what follows the `=` into `variable`, whose type and dimensions are known. An outermost
/// dimension of 0 becomes as large as the list is long.
void parse_initializer(Context &context, Variable &variable);

} // namespace softcuda::ptx
