// lane_addresses.cpp -- loops that compilers turn into vector code.
#include "check/lane_addresses.h"

#include "target/clones.h"

#include <algorithm>
#include <bit>

namespace softcuda::check {
namespace {

constexpr unsigned kLanes = 32;

} // namespace

// Signed comparisons are the ones that every vector unit has; host addresses are less than 2^63.
SCU_VECTOR_CLONES AddressSpan span_of(const std::uint64_t *addresses, std::uint32_t mask) {
    const std::uint64_t any = addresses[std::countr_zero(mask)];
    auto low = static_cast<std::int64_t>(any), high = low;
    if (mask == ~0u) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const auto address = static_cast<std::int64_t>(addresses[lane]);
            low = address < low ? address : low;
            high = address > high ? address : high;
        }
    } else {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const bool active = (mask >> lane & 1) != 0;
            const auto address = static_cast<std::int64_t>(active ? addresses[lane] : any);
            low = address < low ? address : low;
            high = address > high ? address : high;
        }
    }
    return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high), low == high};
}

SCU_VECTOR_CLONES bool all_aligned(const std::uint64_t *addresses, std::uint32_t mask,
                                   std::uint32_t bytes) {
    std::uint64_t low_bits = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        low_bits |= (mask >> lane & 1) != 0 ? addresses[lane] : 0;
    return (low_bits & (bytes - 1)) == 0;
}

SCU_VECTOR_CLONES bool are_in_step(const std::uint64_t *addresses, std::uint32_t mask,
                                   std::uint64_t first, std::uint64_t step) {
    std::uint64_t differs = 0;
    if (mask == ~0u) {
        for (unsigned lane = 0; lane < kLanes; ++lane, first += step)
            differs |= addresses[lane] ^ first;
    } else {
        for (unsigned lane = 0; lane < kLanes; ++lane, first += step)
            differs |= (mask >> lane & 1) != 0 ? addresses[lane] ^ first : 0;
    }
    return differs == 0;
}

SCU_VECTOR_CLONES void find_places(const std::uint64_t *addresses, PlacesInLine &places) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
        places[lane] = static_cast<std::uint8_t>(addresses[lane] % 128);
}

SCU_VECTOR_CLONES void find_places(std::uint64_t first, std::uint64_t step, PlacesInLine &places) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const auto distance = static_cast<std::uint8_t>(lane * static_cast<std::uint8_t>(step));
        places[lane] = (static_cast<std::uint8_t>(first) + distance) & 127;
    }
}

SCU_VECTOR_CLONES std::uint32_t lanes_in_line(const std::uint64_t *addresses,
                                              std::uint64_t address) {
    std::uint32_t lanes = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        lanes |= addresses[lane] / 128 == address / 128 ? 1u << lane : 0u;
    return lanes;
}

SCU_VECTOR_CLONES LaneWords words_of(const PlacesInLine &places, std::uint32_t mask,
                                     unsigned width) {
    std::uint32_t bits = 0;
    if (constexpr int kFew = 6; __builtin_popcount(mask) <= kFew)
        for (std::uint32_t left = mask; left != 0; left &= left - 1)
            bits |= 1u << places[static_cast<unsigned>(std::countr_zero(left))] / 4;
    else
        for (unsigned lane = 0; lane < kLanes; ++lane)
            bits |= (mask >> lane & 1u) << places[lane] / 4;
    const bool shared = __builtin_popcount(bits) != __builtin_popcount(mask);
    for (unsigned step = 1; step < width; step *= 2)
        bits |= bits << step;
    return {bits, shared};
}

SCU_VECTOR_CLONES std::uint32_t lanes_of(const PlacesInLine &places, std::uint32_t words) {
    std::uint32_t lanes = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        lanes |= (words >> places[lane] / 4 & 1u) << lane;
    return lanes;
}

SCU_VECTOR_CLONES std::uint32_t equal_lanes(const PlacesInLine &one, const PlacesInLine &other) {
    std::uint32_t lanes = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        lanes |= one[lane] == other[lane] ? 1u << lane : 0u;
    return lanes;
}

LaneAddresses LaneAddresses::of(const std::uint64_t *list, std::uint32_t mask) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const std::uint32_t others = mask & (mask - 1);
    if (others == 0)
        return {list[lane], 0};
    const auto next = static_cast<unsigned>(std::countr_zero(others));
    const auto distance = static_cast<std::int64_t>(list[next] - list[lane]);
    const auto step = static_cast<std::uint64_t>(
        next == lane + 1 ? distance : distance / static_cast<std::int64_t>(next - lane));
    const std::uint64_t first = list[lane] - lane * step;
    return are_in_step(list, mask, first, step) ? LaneAddresses(first, step) : LaneAddresses(list);
}

AddressSpan LaneAddresses::span(std::uint32_t mask) const {
    if (list_)
        return span_of(list_, mask);
    const std::uint64_t one = (*this)[static_cast<std::uint32_t>(std::countr_zero(mask))];
    const std::uint64_t other = (*this)[static_cast<std::uint32_t>(31 - std::countl_zero(mask))];
    return {std::min(one, other), std::max(one, other), one == other};
}

bool LaneAddresses::are_aligned(std::uint32_t mask, std::uint32_t bytes) const {
    if (list_)
        return all_aligned(list_, mask, bytes);
    if ((step_ & (bytes - 1)) == 0)
        return (first_ & (bytes - 1)) == 0;
    std::uint64_t low_bits = 0;
    for (std::uint32_t left = mask; left != 0; left &= left - 1)
        low_bits |= (*this)[static_cast<std::uint32_t>(std::countr_zero(left))];
    return (low_bits & (bytes - 1)) == 0;
}

std::uint32_t LaneAddresses::in_line(std::uint32_t lanes) const {
    const auto lowest = static_cast<unsigned>(std::countr_zero(lanes));
    const std::uint64_t address = (*this)[lowest];
    if (list_)
        return lanes & lanes_in_line(list_, address);
    if (step_ == 0)
        return lanes;
    const bool upward = static_cast<std::int64_t>(step_) > 0;
    const std::uint64_t distance = upward ? step_ : 0 - step_;
    const std::uint64_t room = upward ? 127 - address % 128 : address % 128;
    const std::uint64_t end = lowest + (distance > room ? 0 : room / distance) + 1;
    return end >= kLanes ? lanes : lanes & ((1u << end) - 1);
}

} // namespace softcuda::check
