// lane_addresses.h -- tests of the addresses of all lanes at once, because most accesses are
// correct.
#pragma once

#include <array>
#include <cstdint>

namespace softcuda::check {

/// The lowest and the highest of the active lanes' addresses.
struct AddressSpan {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    bool uniform = false; ///< all lanes have the same address
};
/// The range of the lanes in `mask`, which must not be 0.
[[nodiscard]] AddressSpan span_of(const std::uint64_t *addresses, std::uint32_t mask);

/// Whether the addresses of the lanes in `mask` are multiples of `bytes`, a power of two.
[[nodiscard]] bool all_aligned(const std::uint64_t *addresses, std::uint32_t mask,
                               std::uint32_t bytes);

/// Whether the address of each lane in `mask` is first + lane * step.
[[nodiscard]] bool are_in_step(const std::uint64_t *addresses, std::uint32_t mask,
                               std::uint64_t first, std::uint64_t step);

/// By lane: the offset of the address in its line of 128 bytes.
using PlacesInLine = std::array<std::uint8_t, 32>;

/// Lines begin at multiples of 128 bytes.
void find_places(const std::uint64_t *addresses, PlacesInLine &places);
/// The offsets for the addresses first + lane * step.
void find_places(std::uint64_t first, std::uint64_t step, PlacesInLine &places);
/// The mask of the lanes whose addresses are in the line of `address`.
[[nodiscard]] std::uint32_t lanes_in_line(const std::uint64_t *addresses, std::uint64_t address);
struct LaneWords {
    std::uint32_t words; ///< a bit each
    bool shared;         ///< several lanes access the same word
};
/// The words of the lanes in `mask`; each lane accesses `width` words, or a part of one word.
[[nodiscard]] LaneWords words_of(const PlacesInLine &places, std::uint32_t mask, unsigned width);
/// The mask of the lanes whose access begins in one of `words`.
[[nodiscard]] std::uint32_t lanes_of(const PlacesInLine &places, std::uint32_t words);
/// The mask of the lanes whose offsets are equal in both.
[[nodiscard]] std::uint32_t equal_lanes(const PlacesInLine &one, const PlacesInLine &other);

/// The addresses of a warp: a list, or the first address and a constant step.
class LaneAddresses {
  public:
    explicit LaneAddresses(const std::uint64_t *list) : list_(list) {}
    LaneAddresses(std::uint64_t first, std::uint64_t step) : first_(first), step_(step) {}
    /// Tests whether the addresses of the lanes in `mask`, which must not be 0, have a constant
    /// step.
    [[nodiscard]] static LaneAddresses of(const std::uint64_t *list, std::uint32_t mask);

    /// The list; null if the addresses have a constant step.
    [[nodiscard]] const std::uint64_t *list() const { return list_; }
    /// The address of lane 0, if the addresses have a constant step.
    [[nodiscard]] std::uint64_t first() const { return first_; }
    [[nodiscard]] std::uint64_t step() const { return step_; }
    [[nodiscard]] std::uint64_t operator[](std::uint32_t lane) const {
        return list_ ? list_[lane] : first_ + lane * step_;
    }
    /// Whether the step is `bytes`.
    [[nodiscard]] bool are_adjacent(std::uint32_t bytes) const { return !list_ && step_ == bytes; }
    /// The range of the lanes in `mask`, which must not be 0.
    [[nodiscard]] AddressSpan span(std::uint32_t mask) const;
    /// As all_aligned().
    [[nodiscard]] bool are_aligned(std::uint32_t mask, std::uint32_t bytes) const;
    /// The lanes of `lanes` whose addresses are in the line of the lowest lane's address. With a
    /// constant step, these lanes are neighbours.
    [[nodiscard]] std::uint32_t in_line(std::uint32_t lanes) const;

  private:
    const std::uint64_t *list_ = nullptr;
    std::uint64_t first_ = 0, step_ = 0;
};

} // namespace softcuda::check
