// clean_up.h -- cheap passes that leave less and plainer code for the analyses.
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
/// Conversions between generic and global, constant or parameter addresses, which are the same,
/// go away.
void propagate_spaces(Function &function);

/// Integer operations on constants, identities (x + 0), bitcasts of bitcasts, selects and phis of
/// one value, and branches on constants.
void fold(Function &function);

/// Constants that are added to a 64-bit address become part of the access's offset, and loads at
/// constant places of the kernel's parameters become load_param.
void fold_addresses(Function &function);

/// Local variables whose address is used only by plain accesses at constant offsets become values.
void promote_locals(Function &function);

/// Floats whose bits go through a shuffle and are floats again are shuffled as floats.
void shuffle_floats(Function &function);

/// Drops local variables that nothing refers to, and moves the others together.
void lay_out_locals(Function &function);

/// Drops operations without effect whose results nothing uses; atomics without use of their result
/// become reductions.
void eliminate_dead_code(Function &function);

/// Joins blocks that follow each other, and drops empty ones and unreachable ones.
void simplify_flow(Function &function);

/// Gives each loop a preheader (the one block that enters it) and a single latch (the one block
/// that jumps back).
void canonicalize_loops(Function &function);

/// The most 32-bit registers that are live at once, as ptxas would about need.
[[nodiscard]] std::uint32_t estimate_registers(const Function &function);

} // namespace softcuda::ir
