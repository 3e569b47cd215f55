// array_select.cpp -- launches the kernels that select elements by rank, and that partition rows.
#include "arrays/operations/sorting.h"

#include <pycuda/array_operation.h>
#include <pycuda/array_parts.h>
#include <pycuda/array_scan.h>
#include <pycuda/copy.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace pycuda {
namespace {

constexpr unsigned threads = 256;
constexpr std::int64_t longest = std::int64_t{1} << 31; ///< counts have 32 bits
constexpr std::int64_t tile = 4096;
constexpr std::int64_t digits = 2048;
constexpr std::size_t most_ranks = 5;     ///< their counts fit in shared memory
constexpr std::int64_t most_rows = 65535; ///< the limit of a grid
constexpr std::int64_t sought_bytes = 32; ///< the size of Sought in select.cuh

std::int32_t pass_count(ScalarType type) {
    return static_cast<std::int32_t>(divide_up(8 * static_cast<std::int64_t>(item_size(type)), 11));
}

void check_rank(const Array &in, int axis, std::int64_t rank) {
    const std::int64_t extent = in.layout().extent(axis);
    if (rank < 0 || rank >= extent)
        throw std::out_of_range("rank " + std::to_string(rank) +
                                " is out of bounds for an axis of " + std::to_string(extent));
}

/// Whether there are rows, and they are so long that sorting is slower. Measured on an H200 and on
/// two CPU cores (benchmarks/array_functions.py).
bool is_long(const Array &in, int axis) {
    const std::int64_t shortest = is_serial() ? 1 << 14 : 1 << 13;
    const std::int64_t length = in.layout().extent(axis);
    return in.size() != 0 && length >= shortest && length < longest;
}

/// As SelectGeometry of select.cuh, which has an array of the ranks.
void add_geometry(KernelArguments &arguments, const Sorting &work,
                  std::span<const std::int64_t> ranks, std::int32_t pass = 0,
                  std::int32_t chunk = 0) {
    arguments.add(work.length);
    arguments.add(divide_up(work.length, tile));
    arguments.add(work.flip);
    for (std::int64_t rank : ranks)
        arguments.add(rank);
    arguments.add(pass);
    arguments.add(chunk);
}

struct Selecting {
    Sorting &work;
    std::span<const std::int64_t> ranks;
    Array sought;     ///< [row][rank]
    const Array *out; ///< the selected keys; null if they are not needed

    SortVariant variant(SortStage stage) const {
        const SortTile tile{static_cast<unsigned>(ranks.size()), 0, SortRanking::Chosen};
        return {work.type(), stage, work.pairs, false, tile};
    }
    void launch(SortStage stage, Dim3 grid, KernelArguments &arguments) const {
        work.launch(work.kernel(variant(stage)), grid, threads, arguments);
    }
};

void select_in_rows(const Selecting &selecting) {
    Sorting &work = selecting.work;
    KernelArguments arguments(work.use, work.keys, selecting.sought, selecting.out);
    add_geometry(arguments, work, selecting.ranks);
    selecting.launch(SortStage::SelectRow, {sort_grid(work.rows)}, arguments);
}

/// Launches the kernels of each pass. Each block processes a part of a row.
void select_in_parts(const Selecting &selecting) {
    Sorting &work = selecting.work;
    const std::int32_t passes = pass_count(work.type());
    const auto ranks = static_cast<std::int64_t>(selecting.ranks.size());
    const Array counts = work.scratch(work.rows * passes * ranks * digits * 4);
    fill_async<std::uint32_t>(work.address(counts), 0, counts.size() / 4, work.use.stream());
    const std::int64_t blocks = std::int64_t{8} * work.keys.context()->traits().processors;
    const std::int64_t parts =
        std::clamp<std::int64_t>(divide_up(blocks, work.rows), 1, divide_up(work.length, 2 * tile));
    const auto chunk = static_cast<std::int32_t>(divide_up(work.length, parts));
    for (std::int32_t pass = 0; pass < passes; ++pass) {
        KernelArguments counting(work.use, work.keys, selecting.sought, counts);
        add_geometry(counting, work, selecting.ranks, pass, chunk);
        selecting.launch(SortStage::SelectCount,
                         {static_cast<unsigned>(divide_up(work.length, chunk)),
                          static_cast<unsigned>(work.rows)},
                         counting);
        KernelArguments choosing(work.use, counts, selecting.sought, selecting.out);
        add_geometry(choosing, work, selecting.ranks, pass, chunk);
        selecting.launch(SortStage::SelectChoose,
                         {static_cast<unsigned>(ranks), static_cast<unsigned>(work.rows)},
                         choosing);
    }
}

/// The greatest number of keys that the registers of a block's threads hold.
std::int64_t most_held(ScalarType type) { return item_size(type) == 8 ? 16 << 10 : 32 << 10; }

/// Selects in one launch, which reads each row once; see select_held.cuh.
void select_held(Sorting &work, std::span<const std::int64_t> ranks) {
    const bool of_block = work.length > 32 * 16;
    const unsigned block = !of_block || work.length <= 256 * 32 ? threads : 1024;
    const std::int64_t group = of_block ? block : lanes_of_row(work.length);
    unsigned logarithm = 0;
    while (group << logarithm < work.length)
        ++logarithm;
    const SortVariant variant{work.type(), SortStage::SelectHeld,  false,
                              of_block,    {logarithm, block, {}}, static_cast<unsigned>(group)};
    std::array<std::int64_t, most_ranks> wanted{};
    std::ranges::copy(ranks, wanted.begin());
    KernelArguments arguments(
        work.use, work.keys, work.result, work.length, work.rows, work.flip, wanted,
        static_cast<std::int64_t>(ranks.size())); // as HeldGeometry of select_held.cuh
    work.launch(work.kernel(variant), {sort_grid(divide_up(work.rows * group, block))}, block,
                arguments);
}

/// Selects the elements of `ranks` in each row. Writes their keys to `out` if it is not null.
Selecting select_rows(Sorting &work, std::span<const std::int64_t> ranks, const Array *out) {
    const std::int64_t found = work.rows * static_cast<std::int64_t>(ranks.size());
    Selecting selecting{work, ranks, work.scratch(found * sought_bytes), out};
    // One block for each row, if there are enough rows to use the whole device.
    const std::int64_t processors = work.keys.context()->traits().processors;
    if (work.rows >= 2 * processors || work.rows > most_rows)
        select_in_rows(selecting);
    else
        select_in_parts(selecting);
    return selecting;
}

void part_rows(Sorting &work, std::int64_t rank) {
    const std::int64_t ranks[] = {rank};
    const Selecting selecting = select_rows(work, ranks, nullptr);
    const std::int64_t tiles = divide_up(work.length, tile);
    const std::int64_t shape[] = {work.rows, tiles};
    const AllocatorScope pools(nullptr); // memory that is not a result comes from the default pools
    const Array counts =
        Array::scratch(work.keys.context(), shape, ScalarType::UInt64, work.use.stream());
    auto launch = [&](SortStage stage, std::initializer_list<const Array *> arrays) {
        KernelArguments arguments(work.use);
        for (const Array *array : arrays)
            arguments.add(array);
        add_geometry(arguments, work, ranks);
        selecting.launch(stage, {sort_grid(work.rows * tiles)}, arguments);
    };
    const Array *keys = &work.keys, *sought = &selecting.sought;
    launch(SortStage::PartCount, {keys, sought, &counts});
    const Array ends = scan(Scan::Sum, counts, 1, {.stream = work.use.stream()});
    launch(SortStage::PartWrite, {keys, sought, &ends, &work.result});
}

Array part(const Array &in, int axis, std::int64_t rank, bool pairs, const SortOptions &options) {
    check_sorting(in, axis, options);
    check_rank(in, axis, rank);
    if (!is_long(in, axis))
        return pairs ? argsort(in, axis, options) : sort(in, axis, options);
    Sorting work = sorting_of(in, axis, pairs, options, in.layout().extent(axis));
    part_rows(work, rank);
    return finish(work, axis);
}

Array part_of(const Array &array, int axis, std::int64_t n) {
    Layout layout;
    for (int i = 0; i < array.dimensions(); ++i)
        layout.append(i == axis ? 1 : array.layout().extent(i), array.layout().stride(i));
    return array.view(layout, n * array.layout().stride(axis));
}

} // namespace

Array select(const Array &in, int axis, std::span<const std::int64_t> ranks,
             const SortOptions &options) {
    check_sorting(in, axis, options);
    for (std::int64_t rank : ranks)
        check_rank(in, axis, rank);
    const auto count = static_cast<std::int64_t>(ranks.size());
    Sorting work = sorting_of(in, axis, false, options, count);
    if (work.result.size() == 0)
        return finish(work, axis);
    if (!is_serial() && work.length <= most_held(work.type()) && ranks.size() <= most_ranks) {
        select_held(work, ranks);
        return finish(work, axis);
    }
    if (is_long(in, axis) && ranks.size() <= most_ranks) {
        select_rows(work, ranks, &work.result);
        return finish(work, axis);
    }
    const int last = work.keys.dimensions() - 1;
    const Array sorted = sort(work.keys, last, options);
    std::vector<PartCopy> parts;
    for (std::int64_t i = 0; i < count; ++i)
        parts.push_back({part_of(work.result, last, i),
                         part_of(sorted, last, ranks[static_cast<std::size_t>(i)])});
    assign_parts(parts, options.stream);
    return finish(work, axis);
}

Array partition(const Array &in, int axis, std::int64_t rank, const SortOptions &options) {
    return part(in, axis, rank, false, options);
}

Array argpartition(const Array &in, int axis, std::int64_t rank, const SortOptions &options) {
    return part(in, axis, rank, true, options);
}

} // namespace pycuda
