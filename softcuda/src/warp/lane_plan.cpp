// lane_plan.cpp -- numbers the places of a kernel in the tier lanes.
#include "warp/lane_plan.h"

#include "ir/dominators.h"
#include "ir/exchange.h"
#include "warp/kernel_plan.h"

#include <algorithm>

namespace softcuda::warp {

namespace {

using ir::Block;
using ir::Instruction;
using ir::Opcode;
using rt::Exchange;
using rt::PlaceKind;

Exchange shuffle_of(ir::ShuffleMode mode) {
    switch (mode) {
    case ir::ShuffleMode::Up:
        return Exchange::ShuffleUp;
    case ir::ShuffleMode::Down:
        return Exchange::ShuffleDown;
    case ir::ShuffleMode::Butterfly:
        return Exchange::ShuffleButterfly;
    case ir::ShuffleMode::Index:
        break;
    }
    return Exchange::ShuffleIndex;
}

Exchange vote_of(ir::VoteMode mode) {
    switch (mode) {
    case ir::VoteMode::All:
        return Exchange::VoteAll;
    case ir::VoteMode::Any:
        return Exchange::VoteAny;
    case ir::VoteMode::Uniform:
        return Exchange::VoteUniform;
    case ir::VoteMode::Ballot:
        break;
    }
    return Exchange::Ballot;
}

std::optional<Exchange> reduction_of(const ir::Attributes &a) {
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

/// True for the header of a loop that may wait for other threads.
bool may_wait(const KernelPlan &plan, const Block *block) {
    const int loop = plan.loops.innermost(block);
    return loop != -1 && plan.loops.loops()[loop].header == block && plan.waits.loops[loop];
}

std::uint32_t point_of(const KernelPlan &plan, const Instruction *write) {
    const auto found = plan.waits.preemption_points.find(write);
    return found == plan.waits.preemption_points.end() ? 0 : found->second;
}

/// The number of the preemption point before instruction `n`; 0: none.
std::uint32_t point_before(const KernelPlan &plan, const Block *block, std::uint32_t n) {
    return n == 0 ? 0 : point_of(plan, block->instructions[n - 1]);
}

/// The place at the beginning of a basic block.
Place first_place(const KernelPlan &plan, const Block *block) {
    Place place{.block = block, .next = {}};
    if (!may_wait(plan, block))
        return place;
    place.kind = PlaceKind::Wait;
    for (const Block *inside : plan.loops.loops()[plan.loops.innermost(block)].blocks)
        for (const Instruction *i : inside->instructions)
            place.point = std::max(place.point, point_of(plan, i));
    return place;
}

/// A place that starts at instruction `first` of a basic block.
Place place_at(const Block *block, std::uint32_t first, bool calls_apart) {
    Place place{.block = block, .first = first, .end = first, .next = {}};
    const Instruction &i = *block->instructions[first];
    if (i.is(Opcode::Call) && calls_apart)
        place.kind = PlaceKind::Call;
    if (!ir::waits_for_lanes(i))
        return place;
    if (ir::is_block_barrier(i)) {
        place.kind = PlaceKind::Barrier;
        place.named = ir::barrier_number(i);
    } else {
        place.kind = PlaceKind::Members;
        place.exchange = exchange_of(i);
        place.named = ir::members_of(i);
    }
    return place;
}

} // namespace

std::optional<Exchange> exchange_of(const Instruction &i) {
    switch (i.opcode) {
    case Opcode::Shuffle:
        return shuffle_of(i.attributes.shuffle);
    case Opcode::Vote:
        return vote_of(i.attributes.vote);
    case Opcode::Match:
        return i.attributes.match == ir::MatchMode::Any ? Exchange::MatchAny : Exchange::MatchAll;
    case Opcode::WarpReduce:
        return reduction_of(i.attributes);
    case Opcode::ElectOne:
        return Exchange::Elect;
    case Opcode::Mma:
        return Exchange::Matrix;
    case Opcode::WarpBarrier:
        return Exchange::Meet;
    default:
        return std::nullopt;
    }
}

// In reverse post-order, the order in which the runtime lets delayed lanes catch up. A basic block
// whose first instruction waits begins with an empty place, because lanes reach it by edges, which
// do not store members. A place ends after a preemption point, so that other lanes can run there.
void plan_lanes(KernelPlan &plan) {
    LanePlan &lanes = plan.lanes;
    lanes = {};
    if (!plan.masks.independent_lanes)
        return;
    const bool apart = plan.makes_calls_apart();
    lanes.of_block.resize(plan.function.blocks.size());
    for (const Block *block : ir::reverse_postorder(plan.function)) {
        lanes.of_block[block->id] = static_cast<std::uint32_t>(lanes.places.size());
        lanes.places.push_back(first_place(plan, block));
        for (std::uint32_t n = 0; n < block->instructions.size(); ++n) {
            const std::uint32_t point = point_before(plan, block, n);
            const Instruction &i = *block->instructions[n];
            if (ir::waits_for_lanes(i) || point != 0 || (i.is(Opcode::Call) && apart)) {
                const auto behind = static_cast<std::uint32_t>(lanes.places.size());
                lanes.places.back().next = {behind};
                lanes.places.push_back(place_at(block, n, apart));
                lanes.places.back().point = point;
            }
            lanes.places.back().end = n + 1;
        }
    }
    for (Place &place : lanes.places)
        if (place.ends_block())
            for (const Edge &edge : plan.masks.of(place.block).edges)
                place.next.push_back(lanes.of_block[edge.to->id]);
}

} // namespace softcuda::warp
