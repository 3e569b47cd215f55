// watched_access.h -- accesses that a checked kernel finds correct itself and does not report.
//
// If bounds and writes are checked, but not the order, nearly all accesses are correct:
//
//     all active lanes are within one piece of memory (rt::WatchPiece), and aligned
//     and load bytes that are written             stores are recorded directly
//
// Only other accesses are reported.
#pragma once

#include "codegen/address.h"
#include "rt/watch_abi.h"

#include <functional>

namespace softcuda::codegen {

/// Emits `tell`, for the case that the access may be wrong, and the test before it. `site` is the
/// access's, with `bytes` and `count`. `tell` gets the site's piece as its argument.
void report_if_suspect(WarpEmitter &w, const ir::Instruction &i, const Address &address,
                       const rt::WatchSite &site, const ir::LocalVariable *variable,
                       const std::function<void(llvm::Value *piece)> &tell);

/// As above for a read of memory that the launch perhaps does not write (WatchSite::read_slot): the
/// kernel records the words itself (rt::ReadRecord) if the lanes read rows of words. False, and no
/// code, if they never do.
[[nodiscard]] bool report_unless_recorded(WarpEmitter &w, const Address &address,
                                          const rt::WatchSite &site, llvm::GlobalVariable *data,
                                          const std::function<void(llvm::Value *piece)> &tell);

} // namespace softcuda::codegen
