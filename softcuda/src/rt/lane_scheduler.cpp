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
//
// Lanes that call a function one by one (rt/lane_calls.h) run until they rest, each time before a
// place of the kernel is chosen. A yield of the kernel's lanes gives each of them another turn.
#include "rt/guard.h"
#include "rt/lane_calls.h"
#include "rt/lane_exchange.h"
#include "rt/resident_block.h"
#include "rt/warp_scheduler.h"
#include "rt/watch.h"

#include <algorithm>
#include <array>
#include <cstdio>
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

/// Null if no lanes of the warp call functions one by one.
LaneCalls *calls_of(WarpFiber &warp) {
    return warp.calls && warp.calls->live() != 0 ? warp.calls.get() : nullptr;
}

bool is_in_call(const WarpFiber &warp) { return warp.running != &warp.fiber; }

/// The lanes of this frame that have not ended.
std::uint32_t live_lanes(const LaneState &state) {
    std::uint32_t live = 0;
    for (std::uint32_t place = 0; place < state.places; place++)
        live |= state.waiting[place];
    return live;
}

/// By lane: the exchange at which it waits for its members, an entry of LaneState::exchanges; null
/// for all others.
using Awaited = std::array<const std::uint8_t *, kWarpSize>;

Awaited awaited_exchanges(const LaneState &state, const LaneCalls *calls) {
    Awaited awaited{};
    for (std::uint32_t place = 0; place < state.places; place++) {
        if (!is_kind(state, place, PlaceKind::Members))
            continue;
        for (std::uint32_t rest = state.waiting[place] & ~state.met; rest != 0; rest &= rest - 1)
            awaited[static_cast<std::size_t>(__builtin_ctz(rest))] = state.exchanges + place;
    }
    for (std::uint32_t rest = calls ? calls->at_exchange() : 0; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::size_t>(__builtin_ctz(rest));
        awaited[lane] = calls->exchange_of(lane);
    }
    return awaited;
}

/// Whether all lanes of a group wait for each other: at one exchange, wherever it is written.
bool is_complete(const LaneState &state, const Awaited &awaited, std::uint32_t lane,
                 std::uint32_t group) {
    const std::uint8_t *exchange = awaited[lane];
    const bool one_place = static_cast<Exchange>(*exchange) == Exchange::Matrix;
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1) {
        const auto other = static_cast<std::size_t>(__builtin_ctz(rest));
        if (!awaited[other] || state.members[other] != state.members[lane] ||
            *awaited[other] != *exchange || (one_place && awaited[other] != exchange))
            return false;
    }
    return true;
}

/// Computes an exchange for lanes that wait for it, wherever they are.
void finish(LaneState &state, LaneCalls *calls, std::uint8_t exchange, std::uint32_t group) {
    perform(static_cast<Exchange>(exchange), state, group);
    const std::uint32_t in_calls = calls ? calls->at_exchange() & group : 0;
    state.met |= group & ~in_calls;
    if (in_calls != 0)
        calls->release(in_calls);
}

/// Lets groups of lanes meet that are complete. Those that have ended are not waited for.
void meet(LaneState &state, std::uint32_t live, LaneCalls *calls) {
    Awaited awaited = awaited_exchanges(state, calls);
    for (std::uint32_t lane = 0; lane < kWarpSize; lane++) {
        if (!awaited[lane])
            continue;
        const std::uint32_t group = (state.members[lane] & live) | std::uint32_t{1} << lane;
        if (!is_complete(state, awaited, lane, group))
            continue;
        finish(state, calls, *awaited[lane], group);
        for (std::uint32_t rest = group; rest != 0; rest &= rest - 1)
            awaited[static_cast<std::size_t>(__builtin_ctz(rest))] = nullptr;
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
bool can_arrive(const LaneState &state, const LaneCalls *calls) {
    if (state.arrived != 0 || (calls && calls->live() != calls->at_barrier()))
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
    case PlaceKind::Call: // they have returned
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

// The state of the kernel's frame, which has the operands of all lanes that wait.
LaneState &kernel_state(WarpFiber &warp, LaneState &state) {
    return is_in_call(warp) ? warp.calls->kernel() : state;
}

/// The lanes of the warp that have not ended, wherever they are.
std::uint32_t live_lanes_of(WarpFiber &warp, const LaneState &kernel) {
    const LaneCalls *calls = calls_of(warp);
    return live_lanes(kernel) | (calls ? calls->live() : 0);
}

/// The kernel's lanes yield: each lane in a call has a turn before they go on.
void wake_calls(WarpFiber &warp) {
    if (LaneCalls *calls = calls_of(warp); calls && !is_in_call(warp))
        calls->wake();
}

// The lowest place at which lanes can go on, those that wait for other threads last, or one that
// has been passed over for too long; otherwise the lanes that wait for each other at the lowest
// place.
Choice choose(LaneState &state, const LaneCalls *calls, std::uint32_t point) {
    const bool at_barriers = can_arrive(state, calls);
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

std::uint32_t lowest_bit(std::uint32_t lanes) { return lanes & (0u - lanes); }

// Lanes at a barrier at which the warp has arrived for them go on, too.
void run_calls(const LaneState &state, LaneCalls &calls) {
    calls.release(calls.at_barrier() & state.arrived);
    calls.run();
}

// No lane of the kernel's frame can go on. Lets lanes in calls go on that could not. False if none
// can: they wait for each other at different exchanges.
bool release_calls(WarpScheduler &scheduler, const LaneState &state, LaneCalls &calls) {
    if ((calls.at_barrier() & state.arrived) != 0)
        return true; // run_calls()
    if (can_arrive(state, &calls)) {
        calls.release(lowest_bit(calls.at_barrier()));
        return true;
    }
    if (calls.resting() == 0)
        return false;
    calls.wake();
    scheduler.yield_now();
    return true;
}

// Lanes that wait for each other at different exchanges, which a program must not do: those at the
// lowest place go on by themselves.
void strand(LaneState &state, const Choice &next, LaneCalls *calls) {
    if (next.lanes != 0)
        return finish(state, calls, state.exchanges[next.place], next.lanes);
    const std::uint32_t lane = lowest_bit(calls->at_exchange());
    finish(state, calls, *calls->exchange_of(static_cast<std::size_t>(__builtin_ctz(lane))), lane);
}

// A defect of this file: lanes are live, but nothing is left that one of them could do.
[[noreturn]] void fail_without_progress() {
    FaultReport report;
    report.kind = Fault::BarrierMismatch;
    std::snprintf(report.detail, sizeof report.detail,
                  "the lanes of a warp cannot continue: an internal error of softcuda");
    Guard::fail(report);
}

// Runs lanes in calls until lanes of the kernel's frame can go on. Without lanes: none are left.
Choice choose_with_calls(WarpScheduler &scheduler, WarpFiber &warp, LaneState &state) {
    for (;;) {
        if (LaneCalls *calls = calls_of(warp))
            run_calls(state, *calls);
        LaneCalls *calls = calls_of(warp);
        const std::uint32_t live = live_lanes_of(warp, state);
        if (live == 0)
            return {state.places, 0};
        meet(state, live, calls);
        const Choice next = choose(state, calls, scheduler.preempted_at());
        if (next.lanes != 0 && !next.stranded)
            return next;
        if (calls && (calls->can_run() || release_calls(scheduler, state, *calls)))
            continue;
        if (next.lanes == 0 && (!calls || calls->at_exchange() == 0))
            fail_without_progress();
        strand(state, next, calls);
        if (next.lanes != 0)
            return next;
    }
}

// A lane that runs alone waits here for lanes that are elsewhere.
void wait_for_lanes(LaneCalls &calls, LaneState &state) {
    for (std::uint32_t place = 0; place < state.places; place++) {
        if (state.waiting[place] == 0)
            continue;
        if (is_kind(state, place, PlaceKind::Members))
            return calls.exchange(state, place);
        if (is_kind(state, place, PlaceKind::Barrier))
            return calls.reach_barrier(state);
    }
}

Choice choose_in_call(WarpScheduler &scheduler, LaneCalls &calls, LaneState &state) {
    wait_for_lanes(calls, state);
    if (live_lanes(state) == 0)
        return {state.places, 0};
    return choose(state, nullptr, scheduler.preempted_at());
}

} // namespace

std::uint32_t scu_next_place(WorkerState *worker, LaneState *state) {
    WarpScheduler &scheduler = ResidentBlock::of(worker).scheduler();
    WarpFiber &warp = scheduler.current();
    state->turn++;
    const Choice next = is_in_call(warp) ? choose_in_call(scheduler, *warp.calls, *state)
                                         : choose_with_calls(scheduler, warp, *state);
    if (next.lanes == 0)
        return state->places;
    if (worker->watch) {
        const std::uint32_t live = live_lanes_of(warp, kernel_state(warp, *state));
        notify_watch(*static_cast<BlockWatch *>(worker->watch),
                     [&](BlockWatch &watch) { watch.live_lanes(live, next.stranded); });
    }
    state->waiting[next.place] &= ~next.lanes;
    state->met &= ~next.lanes;
    state->since[next.place] = state->turn;
    state->mask = next.lanes;
    const std::uint32_t point = scheduler.preempted_at();
    const bool backwards = next.place <= state->last_place;
    if (waits_in_vain(*state, next, point)) {
        wake_calls(warp);
        point == 0 ? scu_yield(worker) : scu_preempt(worker, point);
    } else {
        if (state->points[next.place] != point)
            scu_preempt(worker, state->points[next.place]); // no yield, but may become the point
        if (backwards && ++state->rounds % kRoundsPerYield == 0) {
            wake_calls(warp);
            scu_yield(worker);
        }
    }
    state->last_place = next.place;
    return next.place;
}

// All lanes of the warp are at barriers. The warp arrives for the lanes at this barrier, which then
// continue place by place.
std::uint32_t scu_lane_barrier(WorkerState *worker, LaneState *state, std::uint32_t number,
                               std::uint32_t threads, std::uint32_t part, const char *place) {
    WarpFiber &warp = ResidentBlock::of(worker).scheduler().current();
    const std::uint32_t mask = state->mask;
    state = &kernel_state(warp, *state);
    if ((state->arrived & mask) == 0) {
        const std::uint32_t lanes =
            lanes_at_barrier(*state, live_lanes_of(warp, *state) | mask, number);
        state->arrived = lanes;
        if (worker->watch)
            notify_watch(*static_cast<BlockWatch *>(worker->watch),
                         [&](BlockWatch &watch) { watch.lanes_at_barrier(lanes); });
        state->barrier_result = scu_barrier(
            worker, number, threads, part_of(*state, lanes, static_cast<BarrierPart>(part)), place);
    }
    state->arrived &= ~mask;
    return state->barrier_result;
}

void scu_lane_barrier_arrive(WorkerState *worker, LaneState *state, std::uint32_t number,
                             std::uint32_t threads, const char *place) {
    WarpFiber &warp = ResidentBlock::of(worker).scheduler().current();
    const std::uint32_t mask = state->mask;
    state = &kernel_state(warp, *state);
    if ((state->arrived & mask) == 0) {
        state->arrived = lanes_at_barrier(*state, live_lanes_of(warp, *state) | mask, number);
        scu_barrier_arrive(worker, number, threads, place);
    }
    state->arrived &= ~mask;
}
