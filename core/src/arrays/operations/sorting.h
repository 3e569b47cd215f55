// sorting.h -- the common part of the implementations of sorting and selecting.
#pragma once

#include "arrays/kernel_arguments.h"
#include "arrays/kernel_choice.h"
#include "arrays/kernel_table.h"

#include <pycuda/array.h>
#include <pycuda/array_sort.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace pycuda {

/// The kernels: of sort.cuh, of sort_serial.cuh, of sort_buckets.cuh, of select.cuh, of
/// select_held.cuh and of sort_short.cuh.
enum class SortStage : std::uint8_t {
    Count,
    Plan,
    Pass,
    Small,
    SerialCount,
    SerialSum,
    SerialMove,
    SerialRow,
    BucketSort,
    BucketFind,
    BucketDeal,
    SelectCount,
    SelectChoose,
    SelectRow,
    PartCount,
    PartWrite,
    SelectHeld,
    SortShort
};

/// All that the source of a stage depends on.
struct SortVariant {
    ScalarType type;
    SortStage stage;
    bool pairs;
    bool wide;
    SortTile tile;      ///< for a selection of ranks, `items` is their number; for SelectHeld and
                        ///< SortShort, the logarithm of a thread's keys
    unsigned group = 0; ///< of SelectHeld and SortShort: the threads of a row

    KernelKey key() const noexcept {
        return {KernelFamily::Sort,
                {{type, 4},
                 {stage, 5},
                 {pairs, 1},
                 {wide, 1},
                 {tile.items, 16},
                 {tile.threads, 11},
                 {tile.ranking, 2},
                 {std::bit_width(group), 6}}};
    }
};

/// Bits of a key that one pass of sort_serial.cuh sorts by.
inline int serial_bits(ScalarType type) noexcept { return item_size(type) >= 4 ? 11 : 8; }

/// "sort_pass": the operation of a stage, for KernelTable.
std::string_view sort_kernel_name(SortStage stage) noexcept;

/// For kernels in which a warp has several rows: the lanes of a row, a power of two up to 32.
inline std::int64_t lanes_of_row(std::int64_t length) noexcept {
    return static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(length, 1, 32))));
}

/// The CUDA C++ of a kernel for sorting.
std::string sort_source(const SortVariant &variant);

/// The rows to sort, contiguous, and the arrays for the results.
struct Sorting {
    Array keys;
    Array result;               ///< keys, or their indices (int64)
    std::optional<Array> order; ///< the initial order of the elements
    bool pairs;
    std::int64_t rows;
    std::int64_t length;
    std::uint64_t flip;
    Work use;
    SortTile tile;
    std::vector<Array> kept; ///< kept until all kernels are launched

    ScalarType type() const noexcept { return keys.scalar_type(); }
    Array scratch(std::int64_t bytes) {
        const std::int64_t shape[] = {bytes};
        kept.push_back(Array::scratch(keys.context(), shape, ScalarType::UInt8, use.stream()));
        return kept.back();
    }
    const Function &kernel(const SortVariant &variant) const {
        return keys.context()->kernels().find(variant.key(), sort_kernel_name(variant.stage),
                                              [&] { return sort_source(variant); });
    }
    /// Announces a later call of kernel(variant).
    void expect(const SortVariant &variant) const {
        keys.context()->kernels().expect(variant.key(), sort_kernel_name(variant.stage),
                                         [&] { return sort_source(variant); });
    }
    /// The address of memory that the launched kernels use.
    CUdeviceptr address(const Array &array) { return use.write(array); }
    CUdeviceptr scratch_address(std::int64_t bytes) { return use.write(scratch(bytes)); }
    static void launch(const Function &function, Dim3 grid, unsigned block,
                       KernelArguments &arguments) {
        arguments.launch(function, {.grid = grid, .block = {block}});
    }
};

/// The buffers that the passes read and write, [0] and [1] in turn, so that the last pass writes
/// the result. For pairs, the array of the result also holds intermediate positions, which are not
/// wider than its elements.
struct SortBuffers {
    std::array<const Array *, 2> keys{}, values{}; ///< null if the passes keep no values

    SortBuffers(Sorting &work, int passes, std::int64_t index_size) {
        const auto key_bytes = static_cast<std::int64_t>(work.keys.bytes());
        auto scratch = [&](std::int64_t bytes) { return &own_.emplace_back(work.scratch(bytes)); };
        if (passes > 1)
            keys[1] = scratch(key_bytes);
        if (!work.pairs)
            keys[0] = &work.result;
        else if (passes > 2)
            keys[0] = scratch(key_bytes);
        if (!work.pairs)
            return;
        values[0] = &work.result;
        if (passes > 1)
            values[1] = scratch(work.rows * work.length * index_size);
    }
    SortBuffers &operator=(SortBuffers &&) = delete; // no copies either

  private:
    std::deque<Array> own_; ///< a deque, because its elements must not move
};

/// Throws for invalid axes, types and orders.
void check_sorting(const Array &in, int axis, const SortOptions &options);

/// The rows along an axis, which must be valid, and memory for `kept` results of each row.
Sorting sorting_of(const Array &in, int axis, bool pairs, const SortOptions &options,
                   std::int64_t kept);

/// Whether threads are cores of a CPU.
bool is_serial();

/// The result with the axes in their original order.
Array finish(const Sorting &work, int axis);

/// Sorts with kernels whose blocks are one thread each; see sort_serial.cuh.
void sort_serially(Sorting &work);

/// Whether sort_by_buckets() can sort the rows and is the faster way; see sort_buckets.cuh.
bool fits_buckets(const Sorting &work);

/// Sorts keys with kernels whose blocks are one thread each.
void sort_by_buckets(Sorting &work);

/// Whether each row is as long as a bucket, so that sort_rows_as_buckets() is faster.
bool rows_fit_buckets(const Sorting &work);

/// Sorts the keys of each row by one thread.
void sort_rows_as_buckets(Sorting &work);

inline unsigned sort_grid(std::int64_t blocks) { return grid_extent(blocks, "sorting these rows"); }

} // namespace pycuda
