// prepare.h -- passes that convert a function to the form that code generation requires.
#pragma once

#include "ir/ir.h"

namespace softcuda::transform {

/// Ends a basic block after each barrier, so that the code after a barrier starts a new basic
/// block.
void split_at_barriers(ir::Function &function);

/// Gives each loop one back edge, and adds a separate block on each edge out of a loop.
void simplify_loops(ir::Function &function);

/// Adds a phi for every value that is used outside its loop, in the block at the loop's exit
/// (loop-closed SSA). There, lanes that left in different iterations keep their own values.
void close_loops(ir::Function &function);

} // namespace softcuda::transform
