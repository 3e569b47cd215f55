// find_indices.h -- addresses without a pattern over the lanes, as a pointer and indices.
#pragma once

#include "analysis/range.h"
#include "ir/ir.h"

#include <optional>

namespace softcuda::warp {

struct KernelPlan;

/// Divergent addresses of the form uniform pointer plus 32-bit indices: the check needs half the
/// width, and hardware gathers use this form.
struct IndexedAddress {
    const ir::Value *pointer = nullptr; ///< null: the address has another form
    const ir::Value *index = nullptr;   ///< of 32 bits, or of 64 that are such a number
    unsigned scale = 0;                 ///< bytes
    /// Bounds of scale * index, if they are close together: then the check of a pointer is that of
    /// all lanes. They are multiples of the element's size.
    std::optional<analysis::Range> bounds = {};
};

/// The form of the address of a load or store that accesses `bytes` in each lane.
[[nodiscard]] IndexedAddress find_indices(const KernelPlan &kernel, const ir::Instruction &access,
                                          unsigned bytes);

} // namespace softcuda::warp
