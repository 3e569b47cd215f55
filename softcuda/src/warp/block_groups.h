// block_groups.h -- the order in which a worker runs the warps of neighbouring thread blocks.
//
// A thread block of 32 x 4 threads is a tile of four rows. Its warps are the rows. The tiles of a
// grid row stand side by side in memory:
//
//     block        0        1        2           one:   a e i m  b f j n  c g k o
//     warp 0   a a a a  b b b b  c c c c         rows:  a b c  e f g  i j k  m n o
//     warp 1   e e e e  f f f f  g g g g
//     warp 2   i i i i  j j j j  k k k k
//     warp 3   m m m m  n n n n  o o o o
//
// In the order *one*, block after block, each row of a block is a stream of its own for the
// processor's prefetchers, in each array and in each plane of an array. They follow some ten or
// twenty streams. A lattice of nine directions has 144. The order *rows* runs a group of
// neighbouring blocks row by row, and has as many streams as a row.
//
// Few streams are not always faster. The order one is as fast if each row is on another page, and
// faster if all data are in a cache. That depends on the width of arrays, which is known at run
// time. So code for the order rows runs groups of any size, also of one block, and the worker
// measures both (rt/group_probe.h).
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace softcuda::warp {

struct KernelPlan;

enum class BlockOrder : std::uint8_t {
    One,
    Rows, ///< or one, as the worker finds
};

struct BlockGroups {
    BlockOrder order = BlockOrder::One;
    /// The warps of a row of threads. If a warp has several rows: 1.
    std::uint32_t row_warps = 1;
    std::uint32_t blocks = 1; ///< the most blocks of a group
    std::string reason;       ///< as text
};

/// The amount by which a value grows from a row of threads (threadIdx.y) to the next one, if it is
/// the same everywhere. A guess at the borders of arrays.
[[nodiscard]] std::optional<std::int64_t> growth_by_row(const KernelPlan &plan,
                                                        const ir::Value *value);

/// Chooses the order. Kernels whose warps wait for each other, or whose results may depend on the
/// order of their blocks, have groups of one block.
void plan_block_groups(KernelPlan &plan);

/// One line: the order, and its reason.
[[nodiscard]] std::string print_block_groups(const KernelPlan &plan);

[[nodiscard]] std::string_view text(BlockOrder order);
[[nodiscard]] bool from_text(std::string_view word, BlockOrder &out);

} // namespace softcuda::warp
