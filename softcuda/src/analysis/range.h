// range.h -- bounds of 32-bit integers, to prove that thread indices do not wrap.
#pragma once

#include "ir/ir.h"

#include <array>
#include <cstdint>
#include <vector>

namespace softcuda::analysis {

/// The launch that a kernel is compiled for.
struct LaunchShape {
    std::array<std::uint32_t, 3> block{1, 1, 1};
    /// gridDim * blockDim < 2^31 in each dimension.
    bool small_grid = true;
    /// Bytes of local memory that a thread has for the variables of functions that are called.
    std::uint32_t call_stack = 16 * 1024;

    [[nodiscard]] std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
    [[nodiscard]] std::uint32_t warps() const { return (threads() + 31) / 32; }
};

/// Inclusive bounds of a value read as a signed number.
struct Range {
    std::int64_t low = INT64_MIN, high = INT64_MAX;
    [[nodiscard]] bool non_negative() const { return low >= 0; }
    friend bool operator==(const Range &, const Range &) = default;
};

/// Bounds of every value of up to 32 bits, by Value::id; wider ones have the widest range.
[[nodiscard]] std::vector<Range> find_ranges(const ir::Function &function,
                                             const LaunchShape &launch);

} // namespace softcuda::analysis
