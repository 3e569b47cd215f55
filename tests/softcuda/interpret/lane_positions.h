// lane_positions.h -- the places of a warp's lanes in the tier lanes, and which lanes continue
// next.
#pragma once

#include "interpret/barriers.h"
#include "interpret/exchange.h"
#include "warp/lane_plan.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace softcuda::interpret {

/// Calls `body(lane)` for each lane of the mask `lanes`, lowest first.
template <typename Body> void for_lanes(std::uint32_t lanes, Body body) {
    for (; lanes != 0; lanes &= lanes - 1)
        body(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// The program counters of lanes in one function. Lanes may go on in any order in which no lane is
/// left out for ever. Nearly always the lowest place is next, as in compiled code; a random one
/// comes now and then, so that no order is taken for granted.
class LanePositions {
  public:
    /// All of `lanes` are at place 0. The plan must outlive this.
    LanePositions(const warp::LanePlan &plan, std::uint32_t lanes, std::uint32_t seed);

    void go_to(std::uint32_t place, std::uint32_t lanes) { at_[place] |= lanes; }
    /// Lanes come to a place at which they wait. `named` is what each says of itself
    /// (Place::named), `operands` are those of the instruction.
    void wait_at(std::uint32_t place, std::uint32_t lanes, const LaneValues &named,
                 const std::vector<LaneValues> &operands);

    struct Turn {
        std::uint32_t place = 0, lanes = 0;
    };
    /// Takes lanes away from their place, to be run. Nothing: all have ended. Throws Stopped if all
    /// of them wait for each other.
    [[nodiscard]] std::optional<Turn> next();

    /// The results of the exchange for the lanes that have met.
    [[nodiscard]] const std::vector<LaneValues> &received() const { return received_; }

    /// Lanes whose turn it is pass a barrier. If the warp has not arrived for them yet, it does so
    /// now, for all lanes that wait at a barrier of this number: those. Else nothing.
    [[nodiscard]] std::uint32_t arrive(std::uint32_t number, std::uint32_t lanes);
    /// Those of the lanes that vote yes at their barrier.
    [[nodiscard]] std::uint32_t votes(std::uint32_t lanes) const;
    /// The result of the last barrier.
    Barriers::Passed passed;

  private:
    [[nodiscard]] const warp::Place &waits_at(unsigned lane) const {
        return plan_.places[place_of_[lane]];
    }
    [[nodiscard]] std::uint32_t live() const;
    [[nodiscard]] std::uint32_t waiting(rt::PlaceKind kind) const;
    void meet();
    [[nodiscard]] bool have_come(std::uint32_t group, unsigned first) const;
    [[nodiscard]] std::uint32_t at_barriers(std::uint32_t number) const;
    [[nodiscard]] std::uint32_t ready(std::uint32_t place) const;

    const warp::LanePlan &plan_;
    std::mt19937 random_;
    std::vector<std::uint32_t> at_; ///< by place: lanes
    // By lane, of those that wait:
    std::vector<std::uint32_t> place_of_;
    LaneValues named_{};
    std::vector<LaneValues> operands_;
    std::uint32_t met_ = 0;     ///< lanes whose exchange is done
    std::uint32_t arrived_ = 0; ///< lanes whose warp has arrived, but which have still to pass
    std::vector<LaneValues> received_;
};

} // namespace softcuda::interpret
