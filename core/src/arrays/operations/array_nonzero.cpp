// array_nonzero.cpp -- finds the elements that are not zero, in three launches; in two if there is
// one tile.
//
//     mask   1 0 1 1 | 0 0 0 1 | 1 1 0 0        tiles of 4096 elements, here of 4
//     count  3         1         2              each block counts its tile
//     scan   3         4         6              the last value is the total
//     write  0 2 3     7         8 9            a block starts where the block before it ends
//
// On a GPU, a warp processes 512 neighbouring elements of a tile. Before it writes, it counts them
// again; after all warps have counted, it knows its first position in the output. An element's
// position is that number plus the number of elements in the ballots so far. On a CPU, one warp
// writes a tile, and need not count it.
#include <pycuda/array_nonzero.h>

#include "arrays/array_axes.h"
#include "arrays/device_code.h"
#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"
#include "arrays/word.h"

#include "arrays/operations/device/nonzero.cuh.h"

#include <pycuda/array_operation.h>
#include <pycuda/array_scan.h>
#include <pycuda/copy.h>
#include <pycuda/index_check.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <array>
#include <string>

namespace pycuda {
namespace {

constexpr std::int64_t tile = 4096;

enum class Step : std::uint8_t {
    Count,
    WritePlaces, ///< the indices of the found elements, a row for each axis
    WriteValues, ///< elements of another array
};

/// All values on which a kernel's source depends.
struct Finding {
    Step step;
    ScalarType type; ///< of the searched array
    unsigned axes = 1;
    std::size_t word = 1, words = 1; ///< of the values to write; an element has `words` words
    bool packed = false;             ///< bytes that start at a multiple of 16

    KernelKey key() const noexcept {
        return {KernelFamily::Nonzero,
                {{step, 2}, {type, 4}, {axes, 7}, {word, 5}, {packed, 1}, {words, 40}}};
    }
};

std::string parameters(const Finding &finding) {
    switch (finding.step) {
    case Step::Count:
        return "long long *counts, long long n";
    case Step::WritePlaces:
        return "const long long *ends, long long *out, long long n, long long total, Geometry g";
    default:
        return "const long long *ends, Word *out, long long n, const Word *__restrict__ values";
    }
}

std::string_view name_of(Step step) {
    constexpr std::string_view names[] = {"nonzero_count", "nonzero", "select"};
    return names[static_cast<std::size_t>(step)];
}

std::string source_of(const Finding &finding, bool rolled) {
    const std::string code =
        "typedef " + std::string(cuda_name(finding.type)) + " A;\ntypedef " +
        compute_name(finding.type) + " C;\ntypedef " + word_name(finding.word) + " Word;\n" +
        define("PARAMETERS", parameters(finding)) + define("WORDS", finding.words) +
        define("AXES", finding.axes) + define("COUNT", finding.step == Step::Count) +
        define("PLACES", finding.step == Step::WritePlaces) + define("PACKED", finding.packed) +
        define("ROLLED", rolled) + std::string(device_code::nonzero_cuh);
    return with_prelude(code);
}

void launch_step(Finding finding, const Array &in, KernelArguments &arguments) {
    const bool rolled = runs_on_host();
    const bool one_warp = rolled && finding.step != Step::Count;
    finding.packed = !one_warp && in.item_size() == 1 && in.misalignment() % 16 == 0;
    const Function &kernel = in.context()->kernels().find(
        finding.key(), name_of(finding.step), [&] { return source_of(finding, rolled); });
    arguments.launch(
        kernel,
        {.grid = {static_cast<unsigned>(divide_up(static_cast<std::int64_t>(in.size()), tile))},
         .block = {one_warp ? 32u : 256u}});
}

/// For each tile, the number of found elements up to its end.
Array count_tiles(const Array &in, Work &use) {
    const std::int64_t tiles[] = {divide_up(static_cast<std::int64_t>(in.size()), tile)};
    const AllocatorScope pools(nullptr); // memory that is not a result comes from the default pools
    const Array counts = Array::scratch(in.context(), tiles, ScalarType::Int64, use.stream());
    KernelArguments arguments(use, in, counts, static_cast<std::int64_t>(in.size()));
    launch_step({Step::Count, in.scalar_type()}, in, arguments);
    if (counts.size() == 1)
        return counts;
    return scan(Scan::Sum, counts, 0, {.stream = use.stream()});
}

std::int64_t last_of(const Array &ends, Work &use) {
    std::int64_t last = 0;
    copy_to_host(&last, use.read(ends) + (ends.size() - 1) * sizeof last, sizeof last, use);
    return last;
}

void refuse_opaque(const Array &array, const char *function) {
    if (array.dtype().is_opaque())
        throw UnsupportedTypes(std::string(function) + "() is not defined for elements of " +
                               array.dtype().name());
}

/// The first arguments of both kernels that write.
void add_written(KernelArguments &arguments, const Array &in, const Array &ends, const Array &out) {
    for (const Array *one : {&in, &ends, &out})
        arguments.add(one);
    arguments.add(static_cast<std::int64_t>(in.size()));
}

} // namespace

Array nonzero(const Array &array, StreamRef stream) {
    if (array.dimensions() == 0)
        throw std::invalid_argument("nonzero() is not defined for an array without axes");
    refuse_opaque(array, "nonzero");
    const std::shared_ptr<ArrayContext> &context = context_or_current(array);
    std::array<std::int64_t, 2> shape = {array.dimensions(), 0};
    if (array.size() == 0)
        return Array::empty(context, shape, ScalarType::Int64, Order::C, stream);
    const Array in = compact(array, stream);
    Work use(stream);
    use.require_running("x[mask] or another array of unknown size");
    const Array ends = count_tiles(in, use);
    shape[1] = last_of(ends, use);
    const Array out = Array::empty(context, shape, ScalarType::Int64, Order::C, stream);
    if (shape[1] == 0)
        return out;
    KernelArguments arguments(use);
    add_written(arguments, in, ends, out);
    arguments.add(shape[1]);
    for (std::int64_t extent : in.shape())
        arguments.add(extent);
    launch_step({.step = Step::WritePlaces,
                 .type = in.scalar_type(),
                 .axes = static_cast<unsigned>(in.dimensions())},
                in, arguments);
    note_bounds(out, 0, std::ranges::max(in.shape()));
    return out;
}

Array compress(const Array &values, const Array &where, StreamRef stream) {
    if (!std::ranges::equal(values.shape(), where.shape()))
        throw std::invalid_argument("values and mask of compress() must have the same shape");
    refuse_opaque(where, "compress");
    std::array<std::int64_t, 1> shape = {0};
    const std::shared_ptr<ArrayContext> &context = context_or_current(values);
    if (values.size() == 0)
        return Array::empty(context, shape, values.dtype(), Order::C, stream);
    const Array in = compact(where, stream), from = compact(values, stream);
    Work use(stream);
    use.require_running("x[mask] or another array of unknown size");
    const Array ends = count_tiles(in, use);
    shape[0] = last_of(ends, use);
    const Array out = Array::empty(context, shape, values.dtype(), Order::C, stream);
    if (shape[0] == 0)
        return out;
    KernelArguments arguments(use);
    add_written(arguments, in, ends, out);
    arguments.add(from);
    Finding finding{.step = Step::WriteValues, .type = in.scalar_type()};
    finding.word = word_bytes(from.item_size(), from.misalignment() | out.misalignment());
    finding.words = from.item_size() / finding.word;
    launch_step(finding, in, arguments);
    return out;
}

} // namespace pycuda
