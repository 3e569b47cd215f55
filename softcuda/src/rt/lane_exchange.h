// lane_exchange.h -- shuffles, votes and similar exchanges between lanes at several points of the
// program.
#pragma once

#include "rt/kernel_abi.h"

namespace softcuda::rt {

/// Computes the result of the exchange for each lane of the group, from the values that the lanes
/// have sent.
void perform(Exchange exchange, LaneState &state, std::uint32_t group) noexcept;

} // namespace softcuda::rt
