// clean_up.h -- cheap passes that simplify the code for the analyses.
//
// Each is a free function over a numbered function (renumber()) and leaves one that verifies.
#pragma once

#include "ir/ir.h"

namespace softcuda::ir {

/// Generic loads, stores and atomics become those of the space that their address comes from:
///
///     %2 = to_generic.shared %1
///     %3 = add.s64 %2, %o              %4 = add.s64 %1, %o
///     store.generic.f32 [%3], %x   =>  store.shared.f32 [%4], %x
///
/// Conversions between generic and global, constant or parameter addresses are removed, because the
/// addresses are equal.
void propagate_spaces(Function &function);

/// Folds integer operations on constants, identities (x + 0), bitcasts of bitcasts, selects and
/// phis of one value, and branches on constants.
void fold(Function &function);

/// Constants that are added to a 64-bit address become part of the access's offset, and loads at
/// constant places of the kernel's parameters become load_param.
void fold_addresses(Function &function);

/// Floats that are shuffled as integer bits are shuffled as floats, without the conversions.
void shuffle_floats(Function &function);

/// Removes unused local variables, and packs the others.
void lay_out_locals(Function &function);

/// Removes operations without effect whose results are unused; atomics with unused results become
/// reductions.
void eliminate_dead_code(Function &function);

/// Merges consecutive basic blocks, and removes empty and unreachable ones.
void simplify_flow(Function &function);

/// Gives each loop a preheader (the only basic block that enters it) and a single latch (the only
/// basic block that jumps back).
void canonicalize_loops(Function &function);

/// The largest number of 32-bit registers that are live at the same time: an estimate of ptxas's
/// register count.
[[nodiscard]] std::uint32_t estimate_registers(const Function &function);

} // namespace softcuda::ir
