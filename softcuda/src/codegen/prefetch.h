// prefetch.h -- accesses that a loop will make some iterations from now, or the next block.
#pragma once

#include "codegen/address.h"

namespace softcuda::codegen {

/// Where the lanes' places move by the same long step in each iteration of the innermost loop --
/// the grid's width, some rows of a matrix -- asks the cache for those that a load will want in an
/// iteration to come: the processor's own prefetching follows short steps only. For accesses of
/// blocks with barriers that are in no loop, for those of the next block.
void emit_prefetch(WarpEmitter &w, const ir::Instruction &access, const Address &address);

/// Where a store of one element goes on from where the last one of the same kind ended -- its place
/// is a cursor in memory, one of many, `out[next[digit]++] = key` -- asks for the line after it: a
/// sort writes so many rows in turn that the processor follows none of them.
void emit_prefetch_at_cursor(WarpEmitter &w, const ir::Instruction &store, const Address &address);

} // namespace softcuda::codegen
