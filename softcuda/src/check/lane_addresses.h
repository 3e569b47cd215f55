// lane_addresses.h -- questions about all lanes' addresses at once: most accesses are fine.
#pragma once

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

/// Whether lane i of each is at the first lane's address + i * bytes, in all 32.
[[nodiscard]] bool are_adjacent(const std::uint64_t *addresses, std::uint32_t mask,
                                std::uint32_t bytes);

} // namespace softcuda::check
