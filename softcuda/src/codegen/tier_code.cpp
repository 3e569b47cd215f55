// tier_code.cpp -- the three tiers.
#include "codegen/tier_code.h"

#include <array>
#include <cstddef>

namespace softcuda::codegen {

const TierCode &code_of(rt::Tier tier) {
    static constexpr std::array<TierCode, 3> kTiers{{
        {.entry = emit_block_range,
         .flow = emit_warp_flow,
         .barrier = emit_region_barrier,
         .sleep = emit_worker_sleep,
         .own_stacks = false},
        {.entry = emit_fiber,
         .flow = emit_warp_flow,
         .barrier = emit_fiber_barrier,
         .sleep = emit_fiber_sleep,
         .own_stacks = true},
        {.entry = emit_fiber_of_lanes,
         .flow = emit_lane_flow,
         .barrier = emit_lane_barrier,
         .sleep = emit_fiber_sleep,
         .own_stacks = true},
    }};
    return kTiers.at(static_cast<std::size_t>(tier));
}

} // namespace softcuda::codegen
