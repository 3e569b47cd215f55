// sobol.h -- the quasi-random generators.
#pragma once

#include "engine.h"

#include <array>

namespace softcurand {

constexpr std::size_t most_dimensions = 20000;

/// The direction vectors of one dimension. Those of 32 bits are the upper halves of the first 32.
using Directions = std::array<std::uint64_t, 64>;

/// The vectors of all dimensions.
const std::vector<Directions> &joe_kuo();
/// The number that scrambling combines with each number of a dimension.
std::uint64_t scramble_constant(std::size_t dimension);

/// 20000 dimensions with 32 vectors of 32 bits, or 64 vectors of 64 bits.
const std::uint32_t *direction_table_32(bool with_scrambling);
const std::uint64_t *direction_table_64(bool with_scrambling);

struct SobolKind {
    int width; ///< the bits of a number: 32 or 64
    bool scrambled;
};

/// A generator from the point `first` on. Counts must be multiples of `dimensions`.
std::unique_ptr<Engine> make_sobol(const SobolKind &kind, std::size_t dimensions,
                                   std::uint64_t first);
/// Numbers of 64 bits, of an engine of make_sobol().
void sobol_bits(Engine &engine, std::uint64_t *to, std::size_t count);

} // namespace softcurand
