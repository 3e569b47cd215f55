// split_pointers.h -- splits a pointer that advances in a loop into a common part and start
// indices.
#pragma once

#include "ir/ir.h"

namespace softcuda::transform {

/// A pointer that starts at `pointer + index * size` with a loaded index, and advances by a
/// constant, differs between lanes, but its steps are equal. It becomes `(pointer + steps) + index
/// * size`: a uniform pointer, and the 32-bit indices of the start. Loops have a preheader and one
/// latch (ir::canonicalize_loops()).
///
///     %p = phi [%base + %i * 4, before], [%next, loop]     %s = phi [0, before], [%s + 16, loop]
///     %x = load.global.f32 [%p]                        =>  %u = add.s64 %base, %s
///     %next = add.s64 %p, 16                               %x = load.global.f32 [%u + %i * 4]
void split_pointers(ir::Function &function);

} // namespace softcuda::transform
