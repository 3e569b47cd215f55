// lane_scheduler.cpp -- selects the next place of the program for a warp in the lane tier, and the
// active lanes.
//
// Places are numbered in reverse post-order, so lanes that are behind catch up: usually the lowest
// place is run, and lanes meet again where their ways do. Lanes that go round a loop are always
// behind those that have left it; so that these get on as well, a place that has been passed over
// for long comes first. A loop that waits for other threads is different: the lanes that have left
// it may hold the lock that the others wait for. Its head comes last, and other warps get their
// turn before lanes that have just waited in vain try again. If all warps wait in vain, lanes rest
// behind a preemption point of the loop instead (rt/warp_scheduler.h).
//
// Lanes that reach an exchange store their operands and wait. When all members of the mask have
// reached an equal exchange, at any point of the program, the exchange is computed for all of them
// together.
#include "rt/lane_exchange.h"
#include "rt/resident_block.h"
#include "rt/warp_scheduler.h"
#include "rt/watch.h"

#include <algorithm>
#include <array>
#include <utility>

using namespace softcuda::rt;

namespace {

/// How many turns a place may be passed over. Loops without waiting mostly end before that.
constexpr std::uint32_t kPatience = 256;
/// Turns backwards, that is rounds of some loop, after which other warps get theirs.
constexpr std::uint32_t kRoundsPerYield = 8;

bool is_kind(const LaneState &state, std::uint32_t place, PlaceKind kind) {
    return static_cast<PlaceKind>(state.kinds[place]) == kind;
}

/// The lanes that have not ended.
std::uint32_t live_lanes(const LaneState &state) {
    std::uint32_t live = 0;
    for (std::uint32_t place = 0; place < state.places; place++)
        live |= state.waiting[place];
    return live;
}

constexpr std::uint32_t kNowhere = ~0u;

/// By lane: the place at which it waits for its members; kNowhere for all others.
using WaitingPlaces = std::array<std::uint32_t, kWarpSize>;

WaitingPlaces waiting_places(const LaneState &state) {
    WaitingPlaces places;
    places.fill(kNowhere);
    for (std::uint32_t place = 0; place < state.places; place++) {
        if (!is_kind(state, place, PlaceKind::Members))
            continue;
        for (std::uint32_t rest = state.waiting[place] & ~state.met; rest != 0; rest &= rest - 1)
            places[static_cast<std::size_t>(__builtin_ctz(rest))] = place;
    }
    return places;
}

/// Whether all lanes of a group wait for each other: at one exchange, wherever it is written.
bool is_complete(const LaneState &state, const WaitingPlaces &places, std::uint32_t lane,
                 std::uint32_t group) {
    const std::uint32_t place = places[lane];
    const bool one_place = static_cast<Exchange>(state.exchanges[place]) == Exchange::Matrix;
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
        const auto other = static_cast<std::size_t>(__builtin_ctz(rest));
        if (places[other] == kNowhere || state.members[other] != state.members[lane] ||
            state.exchanges[places[other]] != state.exchanges[place] ||
            (one_place && places[other] != place))
            return false;
    }
    return true;
}

/// Lets groups of lanes meet that are complete. Those that have ended are not waited for.
void meet(LaneState &state, std::uint32_t live) {
    const WaitingPlaces places = waiting_places(state);
    for (std::uint32_t lane = 0; lane < kWarpSize; lane++) {
        if (places[lane] == kNowhere || (state.met >> lane & 1) != 0)
            continue;
        const std::uint32_t group = (state.members[lane] & live) | std::uint32_t{1} << lane;
        if (!is_complete(state, places, lane, group))
            continue;
        perform(static_cast<Exchange>(state.exchanges[places[lane]]), state, group);
        state.met |= group;
    }
}

// Those of the lanes, all of which wait at barriers, that do so at this one.
std::uint32_t lanes_at_barrier(const LaneState &state, std::uint32_t lanes, std::uint32_t number) {
    std::uint32_t found = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        if (state.members[lane] == number)
            found |= std::uint32_t{1} << lane;
    }
    return found;
}

std::uint32_t part_of(const LaneState &state, std::uint32_t lanes, BarrierPart part) {
    switch (part) {
    case BarrierPart::CountOfYes:
        return static_cast<std::uint32_t>(__builtin_popcount(state.votes & lanes));
    case BarrierPart::AnyYes:
        return (state.votes & lanes) != 0;
    case BarrierPart::AnyNo:
        return (~state.votes & lanes) != 0;
    case BarrierPart::Nothing:
        break;
    }
    return 0;
}

// Whether the warp can arrive at a barrier. If it has, but some lanes have still to pass, it can
// not arrive at the next.
bool can_arrive(const LaneState &state) {
    if (state.arrived != 0)
        return false;
    for (std::uint32_t place = 0; place < state.places; place++)
        if (state.waiting[place] != 0 && !is_kind(state, place, PlaceKind::Barrier))
            return false;
    return true;
}

struct Choice {
    std::uint32_t place, lanes;
    bool stranded = false;
};

// The lanes that can continue at a place.
std::uint32_t ready_at(const LaneState &state, std::uint32_t place, bool at_barriers) {
    const std::uint32_t lanes = state.waiting[place];
    switch (static_cast<PlaceKind>(state.kinds[place])) {
    case PlaceKind::Members:
        return lanes & state.met;
    case PlaceKind::Barrier:
        if (!at_barriers || lanes == 0)
            return lanes & state.arrived;
        return lanes_at_barrier(state, lanes, state.members[__builtin_ctz(lanes)]);
    case PlaceKind::Plain:
    case PlaceKind::Wait:
        break;
    }
    return lanes;
}

// Whether lanes that wait for other threads rest at this place until no others can go on: at the
// head of their loop or, if warps are preempted at `point` (rt/warp_scheduler.h), behind it.
bool rests(const LaneState &state, std::uint32_t place, std::uint32_t point) {
    if (is_kind(state, place, PlaceKind::Wait))
        return point == 0 || point > state.points[place];
    return point != 0 && state.points[place] == point;
}

// The lowest place at which lanes can go on, those that wait for other threads last, or one that
// has been passed over for too long. If they wait for each other at different exchanges, which a
// program must not do, those at the lowest go on by themselves.
Choice choose(LaneState &state, std::uint32_t point) {
    const bool at_barriers = can_arrive(state);
    Choice lowest = {state.places, 0}, waiting = lowest, oldest = lowest, stranded = lowest;
    for (std::uint32_t place = 0; place < state.places; place++) {
        if (state.waiting[place] == 0) {
            state.since[place] = state.turn;
            continue;
        }
        const std::uint32_t ready = ready_at(state, place, at_barriers);
        if (ready == 0) {
            if (is_kind(state, place, PlaceKind::Members) && stranded.lanes == 0)
                stranded = {place, state.waiting[place], true};
            continue;
        }
        Choice &first = rests(state, place, point) ? waiting : lowest;
        if (first.lanes == 0)
            first = {place, ready};
        if (oldest.lanes == 0 ||
            state.turn - state.since[place] > state.turn - state.since[oldest.place])
            oldest = {place, ready};
    }
    if (lowest.lanes == 0)
        lowest = waiting;
    if (lowest.lanes == 0 && stranded.lanes != 0)
        perform(static_cast<Exchange>(state.exchanges[stranded.place]), state, stranded.lanes);
    if (lowest.lanes == 0)
        return stranded;
    return state.turn - state.since[oldest.place] > kPatience ? oldest : lowest;
}

// Whether the lanes rested when it was last their turn at such a place, all of them.
bool waits_in_vain(LaneState &state, const Choice &next, std::uint32_t point) {
    if (!rests(state, next.place, point))
        return false;
    return std::exchange(state.waited, next.lanes) == next.lanes;
}

} // namespace

std::uint32_t scu_next_place(WorkerState *worker, LaneState *state) {
    state->turn++;
    const std::uint32_t live = live_lanes(*state);
    if (live == 0)
        return state->places;
    meet(*state, live);
    const std::uint32_t point = ResidentBlock::of(worker).scheduler().preempted_at();
    const Choice next = choose(*state, point);
    if (worker->watch)
        notify_watch(*static_cast<BlockWatch *>(worker->watch),
                     [&](BlockWatch &watch) { watch.live_lanes(live, next.stranded); });
    state->waiting[next.place] &= ~next.lanes;
    state->met &= ~next.lanes;
    state->since[next.place] = state->turn;
    state->mask = next.lanes;
    const bool backwards = next.place <= state->last_place;
    if (waits_in_vain(*state, next, point)) {
        point == 0 ? scu_yield(worker) : scu_preempt(worker, point);
    } else {
        if (state->points[next.place] != point)
            scu_preempt(worker, state->points[next.place]); // no yield, but may become the point
        if (backwards && ++state->rounds % kRoundsPerYield == 0)
            scu_yield(worker);
    }
    state->last_place = next.place;
    return next.place;
}

// All lanes of the warp are at barriers. The warp arrives for the lanes at this barrier, which then
// continue place by place.
std::uint32_t scu_lane_barrier(WorkerState *worker, LaneState *state, std::uint32_t number,
                               std::uint32_t threads, std::uint32_t part, const char *place) {
    if ((state->arrived & state->mask) == 0) {
        const std::uint32_t lanes =
            lanes_at_barrier(*state, live_lanes(*state) | state->mask, number);
        state->arrived = lanes;
        if (worker->watch)
            notify_watch(*static_cast<BlockWatch *>(worker->watch),
                         [&](BlockWatch &watch) { watch.lanes_at_barrier(lanes); });
        state->barrier_result = scu_barrier(
            worker, number, threads, part_of(*state, lanes, static_cast<BarrierPart>(part)), place);
    }
    state->arrived &= ~state->mask;
    return state->barrier_result;
}

void scu_lane_barrier_arrive(WorkerState *worker, LaneState *state, std::uint32_t number,
                             std::uint32_t threads, const char *place) {
    if ((state->arrived & state->mask) == 0) {
        state->arrived = lanes_at_barrier(*state, live_lanes(*state) | state->mask, number);
        scu_barrier_arrive(worker, number, threads, place);
    }
    state->arrived &= ~state->mask;
}
