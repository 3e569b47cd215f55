// matrix_factor.h -- which registers of a lane RuntimeOperation::LoadFactor fills.
#pragma once

#include <cstdint>

namespace softcuda {

/// The most registers that one operation fills.
inline constexpr unsigned kMostFactorRegisters = 16;

/// Registers of A have 16 rows, of B 8 columns, and 16 bytes of k, of which a lane has 4.
struct FactorForm {
    bool is_a = false;       ///< the warp's 16 rows of 64, as four registers; else blocks of B
    bool transposed = false; ///< of 16-bit elements
    unsigned first = 0;      ///< of B's blocks of 8 columns
    unsigned registers = 4;  ///< two for each block of B

    /// As the variant of a RuntimeOperation.
    [[nodiscard]] constexpr std::uint32_t pack() const {
        return std::uint32_t{is_a} | std::uint32_t{transposed} << 1 | first << 2 | registers << 8;
    }
    [[nodiscard]] static constexpr FactorForm unpack(std::uint32_t variant) {
        return {.is_a = (variant & 1) != 0,
                .transposed = (variant >> 1 & 1) != 0,
                .first = variant >> 2 & 63,
                .registers = variant >> 8 & 63};
    }
};

} // namespace softcuda
