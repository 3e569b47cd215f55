// resident_limit.h -- how many blocks may be resident at the same time.
#pragma once

#include "rt/seat.h"

#include <cstdint>

namespace softcuda::rt {

/// How many blocks that wait for each other one thread may have begun, so that all `threads`
/// threads together leave the process most of the memory that is free now, and most of the mappings
/// that the system allows it. At least 1.
[[nodiscard]] std::uint64_t most_resident_blocks(const BlockMemory &memory, std::uint32_t warps,
                                                 std::uint32_t threads);

} // namespace softcuda::rt
