// watched_access.h -- accesses of which a checked kernel need not tell, found out by itself.
//
// Where bounds and writes are checked, but no order, nearly all accesses are fine:
//
//     all active lanes are within one piece of memory (rt::WatchPiece), and aligned
//     and load bytes that are written             what stores does is noted in place
//
// Only the others are told of.
#pragma once

#include "codegen/address.h"
#include "rt/watch_abi.h"

#include <functional>

namespace softcuda::codegen {

/// Emits `tell`, for the case that the access may be wrong, and the test before it. `site` is the
/// access's, with `bytes` and `count`. `tell` is given the site's piece.
void tell_if_suspect(WarpEmitter &w, const ir::Instruction &i, const Address &address,
                     const rt::WatchSite &site, const ir::LocalVariable *variable,
                     const std::function<void(llvm::Value *piece)> &tell);

} // namespace softcuda::codegen
