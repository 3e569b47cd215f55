// harmless.h -- what may run for no lane at all.
#pragma once

#include "codegen/kernel_emitter.h"

namespace softcuda::codegen {

/// True for a block that a warp runs, with an empty mask if need be, sooner than it finds out
/// whether any lane wants to: because loaded values decide that, and all it does is a few stores
/// to places in shared memory that are known to be there.
///
///     if (a > b) { cells[i] = b; cells[j] = a; }
[[nodiscard]] bool is_harmless(KernelEmitter &kernel, const ir::Block *block);

} // namespace softcuda::codegen
