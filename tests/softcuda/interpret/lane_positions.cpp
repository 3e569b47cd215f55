// lane_positions.cpp -- lanes that wait for their members, and the choice of the next place.
#include "interpret/lane_positions.h"

#include "interpret/outcome.h"

#include <algorithm>
#include <bit>

namespace softcuda::interpret {

using rt::PlaceKind;
using warp::Place;

namespace {

constexpr std::size_t kMostOperands = 4; ///< of an exchange
constexpr unsigned kRandomTurns = 32;    ///< on average one of this many selects a random place

std::uint32_t bit(unsigned lane) { return std::uint32_t{1} << lane; }

} // namespace

LanePositions::LanePositions(const warp::LanePlan &plan, std::uint32_t lanes, std::uint32_t seed)
    : plan_(plan), random_(seed), at_(plan.places.size(), 0), place_of_(rt::kWarpSize, 0),
      operands_(kMostOperands, LaneValues{}), received_(2, LaneValues{}) {
    at_[0] = lanes;
}

void LanePositions::wait_at(std::uint32_t place, std::uint32_t lanes, const LaneValues &named,
                            const std::vector<LaneValues> &operands) {
    go_to(place, lanes);
    for_lanes(lanes, [&](unsigned lane) {
        place_of_[lane] = place;
        named_[lane] = named[lane];
        for (std::size_t n = 0; n < operands.size(); ++n)
            operands_.at(n)[lane] = operands[n][lane];
    });
}

std::uint32_t LanePositions::live() const {
    std::uint32_t lanes = 0;
    for (std::uint32_t here : at_)
        lanes |= here;
    return lanes;
}

std::uint32_t LanePositions::waiting(PlaceKind kind) const {
    std::uint32_t lanes = 0;
    for (std::size_t place = 0; place < at_.size(); ++place)
        if (plan_.places[place].kind == kind)
            lanes |= at_[place];
    return lanes;
}

bool LanePositions::have_come(std::uint32_t group, unsigned first) const {
    const std::uint32_t waiting_lanes = waiting(PlaceKind::Members) & ~met_;
    bool same = (group & ~waiting_lanes) == 0;
    for_lanes(group & waiting_lanes, [&](unsigned lane) {
        const bool one_place = waits_at(first).exchange == rt::Exchange::Matrix;
        same &= named_[lane] == named_[first] &&
                waits_at(lane).exchange == waits_at(first).exchange &&
                (!one_place || place_of_[lane] == place_of_[first]);
    });
    return same;
}

/// Lets lanes exchange what they brought whose members have all come. Nobody waits for lanes that
/// have ended.
void LanePositions::meet() {
    const std::uint32_t all = live();
    for_lanes(waiting(PlaceKind::Members) & ~met_, [&](unsigned lane) {
        const std::uint32_t group = (static_cast<std::uint32_t>(named_[lane]) & all) | bit(lane);
        if ((met_ & bit(lane)) != 0 || !have_come(group, lane))
            return;
        const std::vector<LaneValues> made = exchange(*waits_at(lane).awaited(), operands_, group);
        for_lanes(group, [&](unsigned other) {
            for (std::size_t n = 0; n < made.size(); ++n)
                received_[n][other] = made[n][other];
        });
        met_ |= group;
    });
}

std::uint32_t LanePositions::at_barriers(std::uint32_t number) const {
    std::uint32_t found = 0;
    for_lanes(waiting(PlaceKind::Barrier), [&](unsigned lane) {
        if (named_[lane] == number)
            found |= bit(lane);
    });
    return found;
}

// At barriers the warp arrives once, when all of its lanes have come to some barrier. It cannot
// arrive at the next one while lanes have still to pass.
std::uint32_t LanePositions::ready(std::uint32_t place) const {
    const std::uint32_t here = at_[place];
    switch (plan_.places[place].kind) {
    case PlaceKind::Members:
        return here & met_;
    case PlaceKind::Barrier: {
        if (here == 0 || arrived_ != 0 || waiting(PlaceKind::Barrier) != live())
            return here & arrived_;
        const auto first = static_cast<unsigned>(std::countr_zero(here));
        return here & at_barriers(static_cast<std::uint32_t>(named_[first]));
    }
    case PlaceKind::Plain:
    case PlaceKind::Wait:
    case PlaceKind::Call:
        break;
    }
    return here;
}

std::optional<LanePositions::Turn> LanePositions::next() {
    if (live() == 0)
        return std::nullopt;
    meet();
    std::vector<Turn> turns;
    for (std::uint32_t place = 0; place < at_.size(); ++place)
        if (const std::uint32_t lanes = ready(place); lanes != 0)
            turns.push_back({place, lanes});
    if (turns.empty())
        throw Stopped(Stop::Faulted, "the lanes of a warp wait for each other");
    const bool any = random_() % kRandomTurns == 0;
    const Turn turn = turns[any ? random_() % turns.size() : 0];
    at_[turn.place] &= ~turn.lanes;
    met_ &= ~turn.lanes;
    return turn;
}

std::uint32_t LanePositions::arrive(std::uint32_t number, std::uint32_t lanes) {
    std::uint32_t came = 0;
    if ((arrived_ & lanes) == 0)
        arrived_ = came = at_barriers(number) | lanes;
    arrived_ &= ~lanes;
    return came;
}

std::uint32_t LanePositions::votes(std::uint32_t lanes) const {
    std::uint32_t yes = 0;
    for_lanes(lanes, [&](unsigned lane) {
        if ((operands_[0][lane] & 1) != 0)
            yes |= bit(lane);
    });
    return yes;
}

} // namespace softcuda::interpret
