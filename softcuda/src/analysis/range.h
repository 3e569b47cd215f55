// range.h -- bounds of 32-bit integers, to prove that thread indices do not wrap.
#pragma once

#include "ir/ir.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace softcuda::analysis {

/// What is known of a block's extents when a kernel is compiled.
enum class Extents : std::uint8_t {
    Fixed,     ///< all three
    WholeRows, ///< x is a multiple of the warp size: each warp is a part of one row
    Any,       ///< nothing
};
[[nodiscard]] std::string_view text(Extents extents);
/// The extents of a block for code that reads them at run time: WholeRows or Any.
[[nodiscard]] Extents varying_extents(const std::array<std::uint32_t, 3> &block);

/// The launch that a kernel is compiled for.
struct LaunchShape {
    /// The extents. If they vary, the largest number of threads rounded up to whole warps, 1, 1.
    std::array<std::uint32_t, 3> block{1, 1, 1};
    /// is_small_grid() (support/small_grid.h).
    bool small_grid = true;
    /// Bytes of local memory that a thread has for the variables of functions that are called.
    std::uint32_t call_stack = 16 * 1024;
    Extents extents = Extents::Fixed;

    /// A launch with varying extents, of blocks of at most `most_threads`.
    [[nodiscard]] static LaunchShape varying(Extents extents, std::uint32_t most_threads) {
        return {.block = {(most_threads + 31) / 32 * 32, 1, 1}, .extents = extents};
    }

    [[nodiscard]] bool is_fixed() const { return extents == Extents::Fixed; }
    /// If the extents vary, upper bounds.
    [[nodiscard]] std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
    [[nodiscard]] std::uint32_t warps() const { return (threads() + 31) / 32; }
    /// A block has one thread, so that nothing differs within a warp.
    [[nodiscard]] bool is_one_thread() const { return is_fixed() && threads() == 1; }
    /// All lanes of all warps have a thread.
    [[nodiscard]] bool has_whole_warps() const {
        return is_fixed() ? threads() % 32 == 0 : extents == Extents::WholeRows;
    }
    /// The bounds of an extent.
    [[nodiscard]] std::uint32_t least(unsigned dimension) const;
    [[nodiscard]] std::uint32_t most(unsigned dimension) const;
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
