// lane_exchange.h -- shuffles, votes and the like between lanes that stand at several places.
#pragma once

#include "rt/kernel_abi.h"

namespace softcuda::rt {

/// Gives each lane of the group, as bits, what the exchange makes of what all of them have sent.
void perform(Exchange exchange, LaneState &state, std::uint32_t group) noexcept;

} // namespace softcuda::rt
