// split_pointers.h -- the steps of a pointer that runs through a loop, apart from where it began.
#pragma once

#include "ir/ir.h"

namespace softcuda::transform {

/// A pointer that begins at `pointer + index * size` with an index out of memory, and moves on by a
/// constant, is another in each lane, but its steps are the same in all: it becomes
/// `(pointer + steps) + index * size`, a uniform pointer and the 32-bit indices that the loop
/// began with. Loops have a preheader and one latch (ir::canonicalize_loops()).
///
///     %p = phi [%base + %i * 4, before], [%next, loop]     %s = phi [0, before], [%s + 16, loop]
///     %x = load.global.f32 [%p]                        =>  %u = add.s64 %base, %s
///     %next = add.s64 %p, 16                               %x = load.global.f32 [%u + %i * 4]
void split_pointers(ir::Function &function);

} // namespace softcuda::transform
