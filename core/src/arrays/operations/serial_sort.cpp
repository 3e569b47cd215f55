// serial_sort.cpp -- launches sorts with one thread for each row or chunk.
#include "arrays/operations/sorting.h"

#include <algorithm>

namespace pycuda {
namespace {

constexpr std::int64_t longest_narrow = std::int64_t{1}
                                        << 32; ///< counts and positions have 32 bits
constexpr std::int64_t chunks_per_processor = 4;
/// Shorter rows are not divided into chunks.
constexpr std::int64_t shortest_cut = 1 << 16;

/// As SerialGeometry of sort_serial.cuh.
struct Geometry {
    std::int64_t length, chunk, chunks;
    std::uint64_t flip;
    std::int32_t shift = 0, ordered = 0;
};

void sort_row_by_row(Sorting &work, bool wide) {
    const std::int64_t count = work.rows * work.length;
    const Array key_space = work.scratch(2 * static_cast<std::int64_t>(work.keys.bytes()));
    const Array value_space = work.scratch(work.pairs ? 2 * count * (wide ? 8 : 4) : 0);
    Geometry geometry{work.length, work.length, 1, work.flip};
    geometry.ordered = work.order.has_value();
    KernelArguments arguments(work.use, work.keys, work.pairs ? nullptr : &work.result, work.order,
                              work.pairs ? &work.result : nullptr, key_space, value_space,
                              geometry);
    const SortVariant variant{work.type(), SortStage::SerialRow, work.pairs, wide, {}};
    work.launch(work.kernel(variant), {sort_grid(work.rows)}, 1, arguments);
}

void sort_by_chunks(Sorting &work, bool wide, std::int64_t chunks) {
    const int bits = serial_bits(work.type());
    const int passes = (static_cast<int>(work.keys.item_size()) * 8 + bits - 1) / bits;
    const std::int64_t index_size = wide ? 8 : 4;
    const Array counts = work.scratch(work.rows * chunks * index_size << bits);
    const SortBuffers buffers(work, passes, index_size);
    auto kernel = [&](SortStage stage) -> const Function & {
        return work.kernel({work.type(), stage, work.pairs, wide, {}});
    };
    Geometry geometry{work.length, divide_up(work.length, chunks), chunks, work.flip};
    geometry.ordered = work.order.has_value();
    const Array *keys = &work.keys;
    const Array *values = work.order ? &*work.order : nullptr;
    const Dim3 grid = {static_cast<unsigned>(chunks), static_cast<unsigned>(work.rows)};
    for (int pass = 0; pass < passes; ++pass) {
        const auto to = static_cast<std::size_t>((passes - 1 - pass) % 2);
        geometry.shift = pass * bits;
        KernelArguments count(work.use, keys, values, counts, geometry);
        work.launch(kernel(SortStage::SerialCount), grid, 1, count);
        KernelArguments sum(work.use, counts, geometry);
        work.launch(kernel(SortStage::SerialSum), {grid.y}, 1, sum);
        KernelArguments move(work.use, keys, buffers.keys[to], values, buffers.values[to], counts,
                             geometry);
        work.launch(kernel(SortStage::SerialMove), grid, 1, move);
        keys = buffers.keys[to];
        values = buffers.values[to];
    }
}

} // namespace

void sort_serially(Sorting &work) {
    if (fits_buckets(work)) {
        sort_by_buckets(work);
        return;
    }
    if (rows_fit_buckets(work)) {
        sort_rows_as_buckets(work);
        return;
    }
    const bool wide = work.length >= longest_narrow;
    const std::int64_t wanted = chunks_per_processor * work.keys.context()->traits().processors;
    const std::int64_t chunks = std::min(wanted, work.length / (shortest_cut / 4));
    if (work.length < shortest_cut || work.rows >= wanted)
        sort_row_by_row(work, wide);
    else
        sort_by_chunks(work, wide, chunks);
}

} // namespace pycuda
