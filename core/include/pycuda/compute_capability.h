// compute_capability.h -- the generation of a GPU, such as 8.6.
#pragma once

#include <compare>

namespace pycuda {

/// A device's compute capability. {8, 6} is what NVIDIA calls 8.6, sm_86 and compute_86.
struct ComputeCapability {
    int major = 0; ///< 8 of 8.6
    int minor = 0; ///< 6 of 8.6

    /// The digits after "sm_": 86, 90, 120.
    [[nodiscard]] int number() const noexcept { return major * 10 + minor; }

    /// The reverse of number().
    static ComputeCapability from_number(int number) noexcept { return {number / 10, number % 10}; }

    /// In the order of the numbers.
    auto operator<=>(const ComputeCapability &) const = default;
};

} // namespace pycuda
