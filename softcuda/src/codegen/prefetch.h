// prefetch.h -- loads that a loop will make some iterations from now.
#pragma once

#include "codegen/address.h"

namespace softcuda::codegen {

/// Where the lanes' places move by the same long step in each iteration of the innermost loop --
/// the grid's width, some rows of a matrix -- asks the cache for those of an iteration to come: the
/// processor's own prefetching follows short steps only. `address` is contiguous in each group.
void emit_prefetch(WarpEmitter &w, const ir::Instruction &load, const Address &address);

} // namespace softcuda::codegen
