// reduce_elements.h -- atomic reductions of arrays to memory.
#pragma once

#include "support/bulk_copy.h"

#include <cstddef>

namespace softcuda::rt {

/// Combines each element at `to` atomically with the element at `from`. Sums of f32 flush
/// denormals, like `red` in global memory; sums of halves do not. Both must be aligned to an
/// element.
void reduce_elements(ElementForm form, std::byte *to, const std::byte *from,
                     std::size_t bytes) noexcept;

} // namespace softcuda::rt
