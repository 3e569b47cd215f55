// lane_exchange.cpp -- one exchange for one group of lanes. A reduction is of 32-bit integers.
#include "rt/lane_exchange.h"

#include <algorithm>

namespace softcuda::rt {

namespace {

template <typename Body> void for_lanes(std::uint32_t lanes, Body body) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
        body(static_cast<std::uint32_t>(__builtin_ctz(rest)));
}

std::uint32_t lanes_that_sent(const LaneState &state, std::uint32_t group, std::uint64_t value) {
    std::uint32_t found = 0;
    for_lanes(group, [&](std::uint32_t lane) {
        if (state.sent[lane] == value)
            found |= std::uint32_t{1} << lane;
    });
    return found;
}

void receive(LaneState &state, std::uint32_t group, std::uint64_t value) {
    for_lanes(group, [&](std::uint32_t lane) { state.received[lane] = value; });
}

void set_valid(LaneState &state, std::uint32_t lane, bool valid) {
    const std::uint32_t bit = std::uint32_t{1} << lane;
    state.valid = valid ? state.valid | bit : state.valid & ~bit;
}

// PTX ISA, shfl.sync: the control operand holds the clamp value in bits 4..0 and the segment mask
// in bits 12..8. If the source lane is not in the group, the reader gets its own value.
void shuffle(Exchange exchange, LaneState &state, std::uint32_t group) {
    for_lanes(group, [&](std::uint32_t lane) {
        const std::uint32_t distance = state.source[lane] & 31, clamp = state.control[lane] & 31;
        const std::uint32_t segment = state.control[lane] >> 8 & 31;
        const auto low = static_cast<int>(lane & segment);
        const int high = low | static_cast<int>(clamp & ~segment);
        const auto self = static_cast<int>(lane);
        int from = 0;
        bool valid = false;
        switch (exchange) {
        case Exchange::ShuffleUp:
            from = self - static_cast<int>(distance);
            valid = from >= high;
            break;
        case Exchange::ShuffleDown:
            from = self + static_cast<int>(distance);
            valid = from <= high;
            break;
        case Exchange::ShuffleButterfly:
            from = self ^ static_cast<int>(distance);
            valid = from <= high;
            break;
        default:
            from = low | static_cast<int>(distance & ~segment);
            valid = from <= high;
        }
        const bool there = valid && (group >> from & 1) != 0;
        state.received[lane] = state.sent[there ? from : self];
        set_valid(state, lane, valid);
    });
}

std::uint64_t reduced(Exchange exchange, std::uint32_t a, std::uint32_t b) {
    const auto x = static_cast<std::int32_t>(a), y = static_cast<std::int32_t>(b);
    switch (exchange) {
    case Exchange::ReduceAdd:
        return a + b;
    case Exchange::ReduceAnd:
        return a & b;
    case Exchange::ReduceOr:
        return a | b;
    case Exchange::ReduceXor:
        return a ^ b;
    case Exchange::ReduceMinUnsigned:
        return std::min(a, b);
    case Exchange::ReduceMinSigned:
        return static_cast<std::uint32_t>(std::min(x, y));
    case Exchange::ReduceMaxUnsigned:
        return std::max(a, b);
    default:
        return static_cast<std::uint32_t>(std::max(x, y));
    }
}

void reduce(Exchange exchange, LaneState &state, std::uint32_t group) {
    const auto first = static_cast<std::uint32_t>(__builtin_ctz(group));
    std::uint64_t all = state.sent[first];
    for_lanes(group & (group - 1), [&](std::uint32_t lane) {
        all = reduced(exchange, static_cast<std::uint32_t>(all),
                      static_cast<std::uint32_t>(state.sent[lane]));
    });
    receive(state, group, all);
}

void match(Exchange exchange, LaneState &state, std::uint32_t group) {
    for_lanes(group, [&](std::uint32_t lane) {
        const std::uint32_t alike = lanes_that_sent(state, group, state.sent[lane]);
        const bool all = alike == group;
        state.received[lane] = exchange == Exchange::MatchAny || all ? alike : 0;
        set_valid(state, lane, all);
    });
}

void elect(LaneState &state, std::uint32_t group) {
    const auto leader = static_cast<std::uint32_t>(__builtin_ctz(group));
    receive(state, group, leader);
    for_lanes(group, [&](std::uint32_t lane) { set_valid(state, lane, lane == leader); });
}

} // namespace

void perform(Exchange exchange, LaneState &state, std::uint32_t group) noexcept {
    const std::uint32_t ayes = lanes_that_sent(state, group, 1); // of a vote
    switch (exchange) {
    case Exchange::Meet:
    case Exchange::Matrix: // executed by the lanes that have met, at their place
        return;
    case Exchange::ShuffleUp:
    case Exchange::ShuffleDown:
    case Exchange::ShuffleButterfly:
    case Exchange::ShuffleIndex:
        return shuffle(exchange, state, group);
    case Exchange::VoteAll:
        return receive(state, group, ayes == group);
    case Exchange::VoteAny:
        return receive(state, group, ayes != 0);
    case Exchange::VoteUniform:
        return receive(state, group, ayes == 0 || ayes == group);
    case Exchange::Ballot:
        return receive(state, group, ayes);
    case Exchange::MatchAny:
    case Exchange::MatchAll:
        return match(exchange, state, group);
    case Exchange::Elect:
        return elect(state, group);
    default:
        return reduce(exchange, state, group);
    }
}

} // namespace softcuda::rt
