// exchange.cpp -- the runtime's own exchanges (rt/lane_exchange.h), which the tier lanes calls.
#include "interpret/exchange.h"

#include "interpret/outcome.h"
#include "rt/lane_exchange.h"

#include <optional>

namespace softcuda::interpret {

namespace {

using ir::Opcode;
using rt::Exchange;

Exchange shuffle_kind(ir::ShuffleMode mode) {
    switch (mode) {
    case ir::ShuffleMode::Up:
        return Exchange::ShuffleUp;
    case ir::ShuffleMode::Down:
        return Exchange::ShuffleDown;
    case ir::ShuffleMode::Butterfly:
        return Exchange::ShuffleButterfly;
    default:
        return Exchange::ShuffleIndex;
    }
}

Exchange vote_kind(ir::VoteMode mode) {
    switch (mode) {
    case ir::VoteMode::All:
        return Exchange::VoteAll;
    case ir::VoteMode::Any:
        return Exchange::VoteAny;
    case ir::VoteMode::Uniform:
        return Exchange::VoteUniform;
    default:
        return Exchange::Ballot;
    }
}

std::optional<Exchange> reduction_kind(const ir::Attributes &a) {
    const bool with_sign = ir::is_signed(a.type);
    if (ir::is_floating(a.type) || ir::bits(a.type) != 32)
        return std::nullopt;
    switch (a.atomic) {
    case ir::AtomicOp::Add:
        return Exchange::ReduceAdd;
    case ir::AtomicOp::And:
        return Exchange::ReduceAnd;
    case ir::AtomicOp::Or:
        return Exchange::ReduceOr;
    case ir::AtomicOp::Xor:
        return Exchange::ReduceXor;
    case ir::AtomicOp::Min:
        return with_sign ? Exchange::ReduceMinSigned : Exchange::ReduceMinUnsigned;
    case ir::AtomicOp::Max:
        return with_sign ? Exchange::ReduceMaxSigned : Exchange::ReduceMaxUnsigned;
    default:
        return std::nullopt;
    }
}

Exchange kind_of(const ir::Instruction &i) {
    switch (i.opcode) {
    case Opcode::WarpBarrier:
        return Exchange::Meet;
    case Opcode::Shuffle:
        return shuffle_kind(i.attributes.shuffle);
    case Opcode::Vote:
        return vote_kind(i.attributes.vote);
    case Opcode::Match:
        return i.attributes.match == ir::MatchMode::Any ? Exchange::MatchAny : Exchange::MatchAll;
    case Opcode::ElectOne:
        return Exchange::Elect;
    case Opcode::WarpReduce:
        if (const auto kind = reduction_kind(i.attributes))
            return *kind;
        [[fallthrough]];
    default:
        refuse(i);
    }
}

} // namespace

std::vector<LaneValues> exchange(const ir::Instruction &i, const std::vector<LaneValues> &operands,
                                 std::uint32_t group) {
    const Exchange kind = kind_of(i);
    rt::LaneState state{};
    for (unsigned lane = 0; lane < rt::kWarpSize; ++lane) {
        state.sent[lane] = operands[0][lane];
        if (i.is(Opcode::Shuffle)) {
            state.source[lane] = static_cast<std::uint32_t>(operands[1][lane]);
            state.control[lane] = static_cast<std::uint32_t>(operands[2][lane]);
        }
    }
    rt::perform(kind, state, group);
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
