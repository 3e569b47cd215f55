// prepare.h -- passes that bring a function into the form that code generation expects.
#pragma once

#include "ir/ir.h"

namespace softcuda::transform {

/// Ends a basic block after each barrier, so that the code after a barrier starts a new basic
/// block.
void split_at_barriers(ir::Function &function);

/// Gives each loop one back edge and each edge out of a loop a block of its own.
void simplify_loops(ir::Function &function);

/// Routes every value that leaves a loop through a phi in the block that its exit edge leads to
/// (loop-closed SSA): there, lanes that left in different iterations keep their own value.
void close_loops(ir::Function &function);

} // namespace softcuda::transform
