// exchange.cpp -- the runtime's own exchanges (rt/lane_exchange.h), which the tier lanes calls.
#include "interpret/exchange.h"

#include "interpret/outcome.h"
#include "rt/lane_exchange.h"
#include "warp/lane_plan.h"

#include <optional>

namespace softcuda::interpret {

std::vector<LaneValues> exchange(const ir::Instruction &i, const std::vector<LaneValues> &operands,
                                 std::uint32_t group) {
    const std::optional<rt::Exchange> kind = warp::exchange_of(i);
    if (!kind || *kind == rt::Exchange::Matrix)
        refuse(i);
    rt::LaneState state{};
    for (unsigned lane = 0; lane < rt::kWarpSize; ++lane) {
        state.sent[lane] = operands[0][lane];
        if (i.is(ir::Opcode::Shuffle)) {
            state.source[lane] = static_cast<std::uint32_t>(operands[1][lane]);
            state.control[lane] = static_cast<std::uint32_t>(operands[2][lane]);
        }
    }
    rt::perform(*kind, state, group);
    std::vector<LaneValues> results(2, LaneValues{});
    for (unsigned lane = 0; lane < rt::kWarpSize; ++lane) {
        if ((group >> lane & 1) == 0)
            continue;
        results[0][lane] = state.received[lane];
        results[1][lane] = state.valid >> lane & 1;
    }
    return results;
}

} // namespace softcuda::interpret
