// lane_accesses.cpp -- loops over at most 32 addresses.
#include "profile/lane_accesses.h"

#include "target/clones.h"

#include <algorithm>
#include <array>
#include <bit>

namespace softcuda::profile {
namespace {

constexpr unsigned kLanes = 32, kBanks = 32, kWordBytes = 4, kSectorBytes = 32;

/// A few numbers, sorted on demand.
class Numbers {
  public:
    void add(std::uint64_t number) {
        if (count_ == 0 || numbers_[count_ - 1] != number)
            numbers_[count_++] = number;
    }
    /// How many different ones.
    unsigned different() {
        const auto begin = numbers_.begin(), end = begin + count_;
        if (!std::is_sorted(begin, end))
            std::sort(begin, end);
        return static_cast<unsigned>(std::unique(begin, end) - begin);
    }

  private:
    // A lane touches two sectors of 32 bytes at most, since it accesses 16 bytes at most.
    std::array<std::uint64_t, 2 * std::size_t{kLanes}> numbers_;
    unsigned count_ = 0;
};

template <class Do> void for_lanes(std::uint32_t mask, Do &&act) {
    for (; mask != 0; mask &= mask - 1)
        act(static_cast<unsigned>(std::countr_zero(mask)));
}

// The usual cases, in which the loops over pairs of lanes are not needed.
bool all_have_the_same(const WarpAccess &access) {
    return access.stride.is_regular && access.stride.bytes == 0;
}

std::uint64_t first_address(const WarpAccess &access) {
    return access.addresses[std::countr_zero(access.mask)];
}

std::uint64_t last_address(const WarpAccess &access) {
    return access.addresses[kLanes - 1 - static_cast<unsigned>(std::countl_zero(access.mask))];
}

unsigned sectors_between(std::uint64_t first, std::uint64_t last) {
    return static_cast<unsigned>(last / kSectorBytes - first / kSectorBytes) + 1;
}

unsigned active_lanes(const WarpAccess &access) {
    return static_cast<unsigned>(std::popcount(access.mask));
}

/// For all 32 lanes, so that the loop becomes vector code.
SCU_HALF_VECTOR_CLONES bool have_stride(const std::uint64_t *addresses, std::uint64_t step) {
    std::uint64_t differs = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        differs |= addresses[lane] ^ (addresses[0] + lane * step);
    return differs == 0;
}

Stride stride_of(const std::uint64_t *addresses, std::uint32_t mask) {
    if (mask == ~0u) {
        const std::uint64_t step = addresses[1] - addresses[0];
        return {static_cast<std::int64_t>(step), have_stride(addresses, step)};
    }
    Stride stride;
    unsigned seen = 0, last = 0;
    bool differs = false;
    for_lanes(mask, [&](unsigned lane) {
        if (seen++ > 0) {
            const auto step = static_cast<std::int64_t>(addresses[lane] - addresses[last]);
            differs |= seen > 2 && step != stride.bytes;
            stride.bytes = step;
        }
        last = lane;
    });
    stride.is_regular = seen > 1 && !differs;
    return stride;
}

/// Lanes that shared memory serves together.
unsigned lanes_at_once(std::uint32_t bytes) {
    return bytes <= kWordBytes ? kLanes : std::max(kLanes * kWordBytes / bytes, 1u);
}

/// The largest number of different words in one bank for the lanes in `mask`.
unsigned wavefronts_of(const WarpAccess &access, std::uint32_t mask) {
    // At most 32 words, as 32 lanes of 4 bytes have or 8 lanes of 16; one more for each lane where
    // misaligned.
    std::array<std::uint64_t, kLanes * std::size_t{2}> words;
    std::array<std::uint32_t, kBanks> of_bank{}; // the place of a bank's latest word, plus one
    std::array<std::uint8_t, kBanks> counts{};
    std::uint8_t most = 0;
    std::array<std::uint8_t, kLanes * std::size_t{2}> next; // the same of the word before it
    std::uint8_t used = 0;
    for_lanes(mask, [&](unsigned lane) {
        const std::uint64_t first = access.addresses[lane] / kWordBytes;
        const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) / kWordBytes;
        for (std::uint64_t word = first; word <= last; ++word) {
            std::uint32_t &bank = of_bank[word % kBanks];
            std::uint32_t at = bank;
            while (at != 0 && words[at - 1] != word)
                at = next[at - 1];
            if (at != 0)
                continue;
            words[used] = word;
            next[used] = static_cast<std::uint8_t>(bank);
            bank = ++used;
            most = std::max(most, ++counts[word % kBanks]);
        }
    });
    return most;
}

template <class Do> void for_parts(const WarpAccess &access, Do &&act) {
    const unsigned step = lanes_at_once(access.bytes);
    for (unsigned first = 0; first < kLanes; first += step) {
        const std::uint32_t part = step == kLanes ? ~0u : ((1u << step) - 1) << first;
        if ((access.mask & part) != 0)
            act(access.mask & part);
    }
}

} // namespace

WarpAccess::WarpAccess(const std::uint64_t *addresses, std::uint32_t mask, std::uint32_t bytes)
    : addresses(addresses), mask(mask), bytes(bytes), stride(stride_of(addresses, mask)) {}

unsigned count_sectors(const WarpAccess &access) {
    if (access.is_contiguous() || all_have_the_same(access))
        return sectors_between(first_address(access), last_address(access) + access.bytes - 1);
    Numbers sectors;
    for_lanes(access.mask, [&](unsigned lane) {
        sectors.add(access.addresses[lane] / kSectorBytes);
        sectors.add((access.addresses[lane] + access.bytes - 1) / kSectorBytes);
    });
    return sectors.different();
}

unsigned count_addresses(const WarpAccess &access) {
    if (access.stride.is_regular)
        return access.stride.bytes == 0 ? 1 : active_lanes(access);
    Numbers addresses;
    for_lanes(access.mask, [&](unsigned lane) { addresses.add(access.addresses[lane]); });
    return addresses.different();
}

unsigned ideal_sectors(const WarpAccess &access) {
    return (count_addresses(access) * access.bytes + kSectorBytes - 1) / kSectorBytes;
}

unsigned count_wavefronts(const WarpAccess &access) {
    if (access.is_contiguous() || all_have_the_same(access))
        return ideal_wavefronts(access); // of different banks, or of one word
    unsigned sum = 0;
    for_parts(access, [&](std::uint32_t mask) { sum += wavefronts_of(access, mask); });
    return sum;
}

unsigned ideal_wavefronts(const WarpAccess &access) {
    unsigned parts = 0;
    for_parts(access, [&](std::uint32_t) { ++parts; });
    return parts;
}

} // namespace softcuda::profile
