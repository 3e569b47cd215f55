// resident_limit.h -- the limit of blocks that are resident at the same time.
#pragma once

#include "rt/worker_slot.h"

#include <cstdint>

namespace softcuda::rt {

/// The most blocks that one thread may start while they wait for each other. The limit ensures that
/// all `threads` threads together use only a small part of the memory that is free now, and of the
/// mappings that the system allows. At least 1.
[[nodiscard]] std::uint64_t most_resident_blocks(const BlockMemory &memory, std::uint32_t warps,
                                                 std::uint32_t threads);

} // namespace softcuda::rt
