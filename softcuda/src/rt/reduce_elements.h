// reduce_elements.h -- reductions of arrays into memory that other threads may change meanwhile.
#pragma once

#include "support/bulk_copy.h"

#include <cstddef>

namespace softcuda::rt {

/// Combines each element at `to` with that at `from`, each atomically. Sums of f32 flush
/// denormals, as those of `red` in global memory do; sums of halves do not. Both must be aligned to
/// an element.
void reduce_elements(ElementForm form, std::byte *to, const std::byte *from,
                     std::size_t bytes) noexcept;

} // namespace softcuda::rt
