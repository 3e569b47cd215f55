// barriers.cpp -- counts arrivals, and completes barriers.
#include "interpret/barriers.h"

#include <bit>

namespace softcuda::interpret {

void Barriers::arrive(const Arrival &arrival) {
    Waiting &waiting = waiting_[arrival.number];
    waiting.lanes.resize(live_.size());
    waiting.voters.resize(live_.size());
    waiting.votes.resize(live_.size());
    waiting.threads = arrival.threads;
    waiting.lanes[arrival.warp] |= arrival.lanes;
    waiting.voters[arrival.warp] |= arrival.voters;
    waiting.votes[arrival.warp] |= arrival.votes;
}

// For the whole block: all live threads. For a number of threads: whole warps, each of which has
// come when all of its live lanes have.
bool Barriers::is_complete(const Waiting &waiting) const {
    std::uint32_t come = 0;
    for (std::size_t warp = 0; warp < live_.size(); ++warp) {
        const bool whole = (live_[warp] & ~waiting.lanes[warp]) == 0;
        if (waiting.threads == 0 && !whole)
            return false;
        come += whole && waiting.lanes[warp] != 0 ? 32 : 0;
    }
    return waiting.threads == 0 || come >= waiting.threads;
}

std::optional<Barriers::Passed> Barriers::open_one() {
    for (auto &[number, waiting] : waiting_) {
        if (!is_complete(waiting))
            continue;
        Passed passed{.number = number};
        for (std::size_t warp = 0; warp < live_.size(); ++warp) {
            passed.voters += static_cast<unsigned>(std::popcount(waiting.voters[warp]));
            passed.yes += static_cast<unsigned>(std::popcount(waiting.votes[warp]));
        }
        waiting_.erase(number);
        return passed;
    }
    return std::nullopt;
}

std::uint64_t Barriers::result(const ir::Instruction &barrier, const Passed &passed) {
    switch (barrier.attributes.reduction) {
    case ir::BarrierReduction::Count:
        return passed.yes;
    case ir::BarrierReduction::Or:
        return passed.yes != 0;
    default:
        return passed.yes == passed.voters;
    }
}

} // namespace softcuda::interpret
