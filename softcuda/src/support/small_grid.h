// small_grid.h -- grids whose thread indices fit 31 bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace softcuda {

inline constexpr std::uint32_t kMostExtent = 1024; ///< maximum of a block in one dimension

/// The maximum of gridDim * blockDim in a dimension of a small grid: blockIdx * blockDim plus any
/// threadIdx is below 2^31, even if only the maximum of blockDim is known.
inline constexpr std::uint64_t kSmallGrid = (std::uint64_t{1} << 31) - kMostExtent;

/// True for nearly every launch.
[[nodiscard]] inline bool is_small_grid(const std::array<std::uint32_t, 3> &grid,
                                        const std::array<std::uint32_t, 3> &block) {
    for (std::size_t d = 0; d < 3; ++d)
        if (std::uint64_t{grid[d]} * block[d] > kSmallGrid)
            return false;
    return true;
}

} // namespace softcuda
