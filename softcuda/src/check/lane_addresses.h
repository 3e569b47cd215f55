// lane_addresses.h -- questions about all lanes' addresses at once: most accesses are fine.
#pragma once

#include <array>
#include <cstdint>

namespace softcuda::check {

/// The lowest and the highest of the active lanes' addresses.
struct AddressSpan {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    bool uniform = false; ///< all lanes go to one address
};
/// Of the lanes in `mask`, which is not 0.
[[nodiscard]] AddressSpan span_of(const std::uint64_t *addresses, std::uint32_t mask);

/// Whether the lanes in `mask` are at multiples of `bytes`, a power of two.
[[nodiscard]] bool all_aligned(const std::uint64_t *addresses, std::uint32_t mask,
                               std::uint32_t bytes);

/// Whether each lane in `mask` is at first + lane * step.
[[nodiscard]] bool are_in_step(const std::uint64_t *addresses, std::uint32_t mask,
                               std::uint64_t first, std::uint64_t step);

/// By lane: where in its line of 128 bytes.
using PlacesInLine = std::array<std::uint8_t, 32>;

/// Lines begin at multiples of 128 bytes.
void find_places(const std::uint64_t *addresses, PlacesInLine &places);
/// Of lanes at first + lane * step.
void find_places(std::uint64_t first, std::uint64_t step, PlacesInLine &places);
/// The lanes, a bit each, that are in the line which `address` is in.
[[nodiscard]] std::uint32_t lanes_in_line(const std::uint64_t *addresses, std::uint64_t address);
struct LaneWords {
    std::uint32_t words; ///< a bit each
    bool shared;         ///< some of them is several lanes'
};
/// Those of the lanes in `mask`, each of which has `width` words or a part of one.
[[nodiscard]] LaneWords words_of(const PlacesInLine &places, std::uint32_t mask, unsigned width);
/// The lanes that begin in one of `words`, a bit each.
[[nodiscard]] std::uint32_t lanes_of(const PlacesInLine &places, std::uint32_t words);
/// The lanes whose places are the same in both.
[[nodiscard]] std::uint32_t equal_lanes(const PlacesInLine &one, const PlacesInLine &other);

/// Those of a warp: a list, or a first one and the distance from each lane's to the next lane's.
class LaneAddresses {
  public:
    explicit LaneAddresses(const std::uint64_t *list) : list_(list) {}
    LaneAddresses(std::uint64_t first, std::uint64_t step) : first_(first), step_(step) {}
    /// Finds out whether those in `mask`, which is not 0, are all one step apart.
    [[nodiscard]] static LaneAddresses of(const std::uint64_t *list, std::uint32_t mask);

    /// Null where they are not a list.
    [[nodiscard]] const std::uint64_t *list() const { return list_; }
    /// Where they are no list: of lane 0.
    [[nodiscard]] std::uint64_t first() const { return first_; }
    [[nodiscard]] std::uint64_t step() const { return step_; }
    [[nodiscard]] std::uint64_t operator[](std::uint32_t lane) const {
        return list_ ? list_[lane] : first_ + lane * step_;
    }
    /// Whether each lane's is `bytes` behind that of the lane before it.
    [[nodiscard]] bool are_adjacent(std::uint32_t bytes) const { return !list_ && step_ == bytes; }
    /// Of the lanes in `mask`, which is not 0.
    [[nodiscard]] AddressSpan span(std::uint32_t mask) const;
    /// all_aligned()
    [[nodiscard]] bool are_aligned(std::uint32_t mask, std::uint32_t bytes) const;
    /// Those of `lanes` in the line that the lowest of them is in. Where all are in step, no lane
    /// in between is left out.
    [[nodiscard]] std::uint32_t in_line(std::uint32_t lanes) const;

  private:
    const std::uint64_t *list_ = nullptr;
    std::uint64_t first_ = 0, step_ = 0;
};

} // namespace softcuda::check
