// array_sort.cpp -- launches sorts: one kernel for short rows, else a radix sort with one kernel
// for each digit.
#include <pycuda/array_sort.h>

#include "arrays/array_axes.h"

#include "arrays/operations/sorting.h"

#include <pycuda/array_operation.h>
#include <pycuda/copy.h>
#include <pycuda/device_traits.h>
#include <pycuda/index_check.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace pycuda {
namespace {

constexpr unsigned threads =
    256; ///< of the kernels that count, and of those with one block for each row
constexpr std::int64_t digits = 256;
constexpr std::int64_t longest_narrow = std::int64_t{1} << 30; ///< counts and states in 32 bits

/// As SortGeometry of sort.cuh.
struct Geometry {
    std::int64_t length = 0, tiles = 1;
    std::uint64_t flip = 0;
    std::int32_t pass = 0, ordered = 0;
};

/// As SortMemory of sort.cuh.
struct Memory {
    CUdeviceptr keys, order;
    std::array<CUdeviceptr, 2> keys_to, values_to;
};

Geometry geometry_of(const Sorting &work) {
    Geometry geometry;
    geometry.length = work.length;
    geometry.flip = work.flip;
    geometry.ordered = work.order.has_value();
    return geometry;
}

/// `bytes`: the larger of the sizes of a key and a position.
void check(const SortTile &tile, unsigned bytes) {
    constexpr unsigned room = 44 << 10; // shared memory for keys or positions
    const unsigned block = tile.threads == 0 ? threads : tile.threads;
    if (block % 128 != 0 || block < 256 || block > 512)
        throw std::invalid_argument("a block that sorts has 256, 384 or 512 threads, not " +
                                    std::to_string(block));
    const unsigned most = std::min(24u, room / (block * bytes));
    if (tile.items > most)
        throw std::invalid_argument(std::to_string(tile.items) + " keys for each of " +
                                    std::to_string(block) + " threads are too many; at most " +
                                    std::to_string(most));
}

/// The number of keys per block in a pass: fewer keys if each needs more shared memory. Measured on
/// an H200 (benchmarks/arrays.py, variants).
SortTile tile_of(const Sorting &work, bool wide) {
    SortTile tile = work.tile;
    const bool large = item_size(work.type()) == 8 || (work.pairs && wide);
    check(tile, large ? 8 : 4);
    if (tile.items == 0)
        tile.items = large ? 8 : 20;
    if (tile.threads == 0)
        tile.threads = 256;
    if (tile.ranking == SortRanking::Chosen)
        tile.ranking = SortRanking::Marks;
    return tile;
}

void sort_small_rows(Sorting &work) {
    const unsigned items = work.length <= 256 ? 1 : work.length <= 1024 ? 4 : 8;
    KernelArguments arguments(work.use, work.keys, work.pairs ? nullptr : &work.result, work.order,
                              work.pairs ? &work.result : nullptr, geometry_of(work));
    work.launch(work.kernel({work.type(), SortStage::Small, work.pairs, false, {items}}),
                {sort_grid(work.rows)}, threads, arguments);
}

/// Whether lanes of a warp sort the rows. For a few rows of more than 32 keys, a block for each is
/// sooner done. More keys of a lane would take long to compile.
bool are_short(const Sorting &work) {
    const std::int64_t most = item_size(work.type()) == 8 ? 64 : 128;
    return work.length <= 32 ||
           (work.length <= most && work.rows >= work.keys.context()->traits().processors);
}

/// Sorts short rows by lanes of a warp; see sort_short.cuh.
void sort_short_rows(Sorting &work) {
    const std::int64_t group = lanes_of_row(work.length);
    unsigned logarithm = 0; // of the keys of a lane
    while (group << logarithm < work.length)
        ++logarithm;
    KernelArguments arguments(work.use, work.keys, work.pairs ? nullptr : &work.result, work.order,
                              work.pairs ? &work.result : nullptr, work.rows, work.flip,
                              static_cast<std::int32_t>(work.length),
                              std::int32_t{work.order.has_value()});
    const SortVariant variant{work.type(), SortStage::SortShort, work.pairs,
                              false,       {logarithm, 0, {}},   static_cast<unsigned>(group)};
    work.launch(work.kernel(variant), {sort_grid(divide_up(work.rows * group, threads))}, threads,
                arguments);
}

/// The number of keys for each digit of each pass: [row][pass][digit].
Array count_digits(Sorting &work) {
    const auto passes = static_cast<std::int64_t>(item_size(work.type()));
    const Array counts = work.scratch(work.rows * passes * digits * 8);
    fill_async<std::uint32_t>(work.address(counts), 0, counts.size() / 4, work.use.stream());
    const std::int64_t wanted = std::int64_t{8} * work.keys.context()->traits().processors;
    const std::int64_t blocks = std::clamp<std::int64_t>(
        divide_up(wanted, work.rows), 1, divide_up(work.length, std::int64_t{4} * threads));
    const Function &kernel = work.kernel({work.type(), SortStage::Count, work.pairs, false, {}});
    const std::size_t row_bytes = static_cast<std::size_t>(work.length) * work.keys.item_size();
    for (std::int64_t row = 0; row < work.rows;
         row += 65535) { // the limit of the grid's second extent
        KernelArguments arguments(work.use);
        arguments.add(work.keys, row * static_cast<std::int64_t>(row_bytes));
        arguments.add(counts, row * passes * digits * 8);
        arguments.add(geometry_of(work));
        work.launch(kernel,
                    {static_cast<unsigned>(blocks),
                     static_cast<unsigned>(std::min<std::int64_t>(work.rows - row, 65535))},
                    threads, arguments);
    }
    return counts;
}

void sort_by_passes(Sorting &work) {
    const auto passes = static_cast<std::int32_t>(item_size(work.type()));
    const bool wide = work.length >= longest_narrow;
    const SortTile tile = tile_of(work, wide);
    const std::int64_t tiles = divide_up(work.length, std::int64_t{tile.items} * tile.threads);
    const std::int64_t index_size = wide ? 8 : 4;
    const SortVariant planning_kernel{work.type(), SortStage::Plan, work.pairs, false, {}};
    const SortVariant pass_kernel{work.type(), SortStage::Pass, work.pairs, wide, tile};
    work.expect(pass_kernel);
    work.expect(planning_kernel);
    const Array counts = count_digits(work);
    const Array states = work.scratch(8 + work.rows * tiles * digits * index_size);
    const Array plans = work.scratch(work.rows * 4);
    // Only the device knows which passes are needed. There may be as many as digits.
    const SortBuffers buffers(work, passes, index_size);
    const auto addresses = [&](const std::array<const Array *, 2> &arrays) {
        return std::array{arrays[0] ? work.address(*arrays[0]) : 0,
                          arrays[1] ? work.address(*arrays[1]) : 0};
    };
    const Memory memory{work.address(work.keys), work.order ? work.address(*work.order) : 0,
                        addresses(buffers.keys), addresses(buffers.values)};
    Geometry geometry = geometry_of(work);
    geometry.tiles = tiles;
    KernelArguments planning(work.use, counts, plans, geometry);
    work.launch(work.kernel(planning_kernel), {sort_grid(work.rows)}, threads, planning);
    const Function &kernel = work.kernel(pass_kernel);
    for (std::int32_t pass = 0; pass < passes; ++pass) {
        geometry.pass = pass;
        fill_async<std::uint32_t>(work.address(states), 0, states.size() / 4, work.use.stream());
        KernelArguments arguments(work.use, memory, counts, plans, states, geometry);
        work.launch(kernel, {sort_grid(work.rows * tiles)}, tile.threads, arguments);
    }
}

/// The array with `axis` moved to the end, or moved back from the end.
Array with_last_axis(const Array &array, int axis, bool back = false) {
    std::vector<int> axes;
    for (int i = 0; i < array.dimensions(); ++i)
        if (i != axis)
            axes.push_back(i);
    axes.push_back(axis);
    if (back) {
        std::vector<int> inverse(axes.size());
        for (std::size_t i = 0; i < axes.size(); ++i)
            inverse[static_cast<std::size_t>(axes[i])] = static_cast<int>(i);
        axes = inverse;
    }
    return array.view(array.layout().transposed(axes));
}

Array sort_rows(const Array &in, int axis, bool pairs, const SortOptions &options) {
    check_sorting(in, axis, options);
    Sorting work = sorting_of(in, axis, pairs, options, in.layout().extent(axis));
    if (in.size() != 0) {
        if (kernel_choice.sort != SortMethod::Serial && are_short(work))
            sort_short_rows(work); // on a CPU as well: its vectors are lanes
        else if (is_serial())
            sort_serially(work);
        else if (work.length <= std::int64_t{8} * threads)
            sort_small_rows(work);
        else
            sort_by_passes(work);
    }
    return finish(work, axis);
}

} // namespace

void check_sorting(const Array &in, int axis, const SortOptions &options) {
    if (axis < 0 || axis >= in.dimensions())
        throw std::invalid_argument("axis " + std::to_string(axis) +
                                    " is out of bounds for an array of " +
                                    std::to_string(in.dimensions()) + " dimensions");
    if (in.dtype().is_opaque() || is_complex(in.scalar_type()))
        throw UnsupportedTypes("sorting is not defined for elements of " + in.dtype().name());
    if (options.order == nullptr)
        return;
    if (options.order->scalar_type() != ScalarType::Int64)
        throw std::invalid_argument("order must have dtype int64, not " +
                                    options.order->dtype().name());
    if (!options.order->layout().same_shape(in.layout()))
        throw std::invalid_argument("an order of shape " + shape_text(options.order->shape()) +
                                    " does not fit an array of shape " + shape_text(in.shape()));
}

Sorting sorting_of(const Array &in, int axis, bool pairs, const SortOptions &options,
                   std::int64_t kept) {
    const std::shared_ptr<ArrayContext> &context = context_or_current(in);
    const DType type = pairs ? DType(ScalarType::Int64) : in.dtype();
    const Array rows = with_last_axis(in, axis);
    const std::int64_t length = in.layout().extent(axis);
    std::vector<std::int64_t> shape(rows.shape().begin(), rows.shape().end());
    shape.back() = kept;
    Sorting work{in.size() == 0 ? rows : compact(rows, options.stream),
                 Array::empty(context, shape, type, Order::C, options.stream),
                 {},
                 pairs,
                 in.size() == 0 ? 0 : static_cast<std::int64_t>(in.size()) / length,
                 length,
                 options.descending ? ~std::uint64_t{0} : 0,
                 Work(options.stream),
                 kernel_choice.tile,
                 {}};
    if (options.order != nullptr && pairs && in.size() != 0)
        work.order = compact(with_last_axis(*options.order, axis), options.stream);
    return work;
}

bool is_serial() {
    return kernel_choice.sort == SortMethod::Chosen ? runs_on_host()
                                                    : kernel_choice.sort == SortMethod::Serial;
}

Array finish(const Sorting &work, int axis) { return with_last_axis(work.result, axis, true); }

Array sort(const Array &in, int axis, const SortOptions &options) {
    return sort_rows(in, axis, false, options);
}

Array argsort(const Array &in, int axis, const SortOptions &options) {
    const Array order = sort_rows(in, axis, true, options);
    note_bounds(order, 0, in.layout().extent(axis));
    return order;
}

} // namespace pycuda
