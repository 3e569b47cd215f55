// print_lanes.cpp -- prints the places of the tier lanes.
#include "ir/print.h"
#include "warp/kernel_plan.h"
#include "warp/lane_plan.h"

#include <array>

namespace softcuda::warp {

namespace {

constexpr std::array<const char *, 21> kExchanges = {
    "meet",          "shuffle.up",    "shuffle.down",  "shuffle.bfly",  "shuffle.idx",
    "vote.all",      "vote.any",      "vote.uni",      "ballot",        "match.any",
    "match.all",     "redux.add",     "redux.and",     "redux.or",      "redux.xor",
    "redux.min.u32", "redux.min.s32", "redux.max.u32", "redux.max.s32", "elect",
    "matrix",
};

std::string title(const Place &place) {
    std::string out =
        place.block->name + ", " + std::to_string(place.first) + " to " + std::to_string(place.end);
    switch (place.kind) {
    case rt::PlaceKind::Plain:
        return out;
    case rt::PlaceKind::Wait:
        return out + ", may wait for other threads";
    case rt::PlaceKind::Barrier:
        return out + ", barrier";
    case rt::PlaceKind::Call:
        return out + ", back from a call";
    case rt::PlaceKind::Members:
        break;
    }
    out += ", members, ";
    return out +
           (place.exchange ? kExchanges.at(static_cast<std::size_t>(*place.exchange)) : "unknown");
}

} // namespace

std::string print_lanes(const KernelPlan &plan) {
    std::string out;
    for (std::size_t number = 0; number < plan.lanes.places.size(); ++number) {
        const Place &place = plan.lanes.places[number];
        out += std::to_string(number) + ": " + title(place) + "\n";
        for (std::size_t n = 0; n < place.next.size(); ++n) {
            const std::string to = std::to_string(place.next[n]);
            if (place.ends_block()) {
                const Edge &edge = plan.masks.of(place.block).edges[n];
                out += "  edge " + edge.to->name + " to place " + to + "\n";
                continue;
            }
            const Place &next = plan.lanes.places[place.next[n]];
            if (next.point != 0)
                out += "  preemption point " + std::to_string(next.point) + "\n";
            if (next.is_call()) {
                out += "  each lane calls, and continues at " + to + "\n";
                continue;
            }
            if (!next.waits_for_lanes()) {
                out += "  continues at " + to + "\n";
                continue;
            }
            const ir::Value *named = next.named;
            out += "  waits at " + to + (named ? " with " + ir::to_text(*named) : "") + "\n";
        }
    }
    return out.empty() ? "lanes run together\n" : out;
}

} // namespace softcuda::warp
