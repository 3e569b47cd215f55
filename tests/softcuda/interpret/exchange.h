// exchange.h -- shuffles, votes and the like among lanes of one warp, for both interpreters.
#pragma once

#include "ir/ir.h"

#include <array>
#include <cstdint>
#include <vector>

namespace softcuda::interpret {

using LaneValues = std::array<std::uint64_t, 32>;

/// Lets the lanes of a group exchange values: `operands` by operand, then by lane. Returns
/// two results in the same way, of which the instruction may have fewer; those of other lanes are
/// zero. Throws Stopped for matrix products.
[[nodiscard]] std::vector<LaneValues> exchange(const ir::Instruction &instruction,
                                               const std::vector<LaneValues> &operands,
                                               std::uint32_t group);

} // namespace softcuda::interpret
