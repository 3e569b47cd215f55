// array_reduction.cpp -- reduces arrays along axes, with one or two launches.
#include <pycuda/array_reduction.h>

#include "arrays/array_axes.h"
#include "arrays/device_code.h"
#include "arrays/expression_launch.h"
#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"
#include "arrays/reduction_source.h"

#include <pycuda/launch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pycuda {
namespace {

constexpr std::size_t max_walkers = 9; ///< the arrays of an expression and a mask

struct Reducing {
    ReductionVariant variant;
    const ComputedElements *computed = nullptr; ///< null if the elements are the inputs
    std::array<const Array *, max_walkers> arrays{};
    std::array<Layout, max_walkers> kept;
    std::array<Layout, max_walkers> reduced;
    std::array<std::int64_t, max_walkers> offsets{};
    std::size_t walkers = 0;
    std::size_t outputs = 1;
    std::size_t length = 1;
    std::size_t chunk = 1;
    std::size_t chunks = 1;
    ReductionFinish finish = ReductionFinish::Plain;
    double divisor = 1;
    ScalarType finished = ScalarType::Float32; ///< the type of the result
};

// Types

void choose_types(ReductionVariant &variant, std::span<const Array *const> inputs,
                  const ReduceOptions &options) {
    ScalarType type = inputs[0]->scalar_type();
    if (variant.expression != nullptr)
        type = variant.stored[0] = variant.expression->type_of(variant.expression->results[0]);
    for (std::size_t i = 0; variant.expression == nullptr && i < inputs.size(); ++i) {
        if (inputs[i]->dtype().is_opaque())
            throw UnsupportedTypes(std::string(reduction_row(variant.reduction).numpy_name) +
                                   "() is not defined for elements of " +
                                   inputs[i]->dtype().name());
        variant.stored[i] = inputs[i]->scalar_type();
        type = promote(type, variant.stored[i]);
    }
    choose_result_types(variant, type, options.dtype);
}

void choose_finish(Reducing &work, const ReduceOptions &options) {
    const ScalarType out = work.variant.out;
    work.finished = out;
    if (options.finish == ReductionFinish::Plain)
        return;
    if (!is_float(out) && !is_complex(out))
        throw std::invalid_argument("only results of floats are divided, not of " +
                                    DType(out).name());
    work.finish = options.finish;
    work.divisor = options.divisor;
    work.finished = options.finished.value_or(out);
}

bool has_identity(Reduction reduction) {
    const ReductionRule rule = reduction_row(reduction).rule;
    return rule != ReductionRule::Index &&
           (rule != ReductionRule::Same || reduction == Reduction::Dot);
}

// Axes

void split_axes(Reducing &work, std::span<const Array *const> inputs, const Layout &shape,
                const ReduceOptions &options) {
    for (const Array *input : inputs)
        work.arrays[work.walkers++] = input;
    if (options.where != nullptr)
        work.arrays[work.walkers++] = options.where;
    for (std::size_t k = 0; k < work.walkers; ++k) {
        const Layout layout = work.arrays[k]->layout().broadcast_to(shape.shape());
        split_axes(layout, options.axes, work.kept[k], work.reduced[k]);
    }
    work.outputs = work.kept[0].size();
    work.length = work.reduced[0].size();
}

void merge_axes(Reducing &work) {
    const std::span<std::int64_t> offsets(work.offsets.data(), work.walkers);
    const std::span<Layout> kept(work.kept.data(), work.walkers);
    const std::span<Layout> reduced(work.reduced.data(), work.walkers);
    // The result's elements are numbered in the order of the kept axes. No axis is reversed.
    const auto order = kept[0].axes_in_memory_order();
    const std::span<const int> axes(order.data(), static_cast<std::size_t>(kept[0].dimensions()));
    for (Layout &layout : kept)
        layout = Layout(layout).transposed(axes);
    coalesce(kept);
    // The index of an element is its index in C order. Other reductions may visit the elements in
    // any order.
    if (reduction_row(work.variant.reduction).rule != ReductionRule::Index)
        sort_axes(reduced, offsets);
    coalesce_to_axes(reduced);
    work.variant.kept = kept[0].dimensions();
    work.variant.reduced = reduced[0].dimensions();
}

/// Whether elements are `step` elements apart along the last reduced axis, or the last kept axis.
bool has_dense_rows(const Reducing &work, std::span<const Layout> axes, int step) {
    const int last = axes[0].dimensions() - 1;
    for (std::size_t k = 0; k < work.walkers; ++k)
        if (axes[k].stride(last) != step * static_cast<std::int64_t>(work.arrays[k]->item_size()))
            return false;
    return true;
}

/// Whether they are so along the only such axis.
bool is_dense(const Reducing &work, std::span<const Layout> axes, int step = 1) {
    return axes[0].dimensions() == 1 && has_dense_rows(work, axes, step);
}

/// A number of elements between neighbours for which kernels are compiled. The first input has it.
std::int8_t known_step(const Reducing &work, std::span<const Layout> axes) {
    const auto size = static_cast<std::int64_t>(work.arrays[0]->item_size());
    const int last = axes[0].dimensions() - 1;
    for (std::int8_t step : known_steps)
        if (last >= 0 && axes[0].stride(last) == step * size)
            return step;
    return 1;
}

/// Whether neighbouring threads of a team are always in the same row.
bool has_whole_rows(const Reducing &work, int step) {
    const Layout &reduced = work.reduced[0];
    const auto team = static_cast<std::size_t>(team_size(work.variant.team));
    return work.variant.team != Team::Columns && reduced.dimensions() > 1 &&
           static_cast<std::size_t>(reduced.extent(reduced.dimensions() - 1)) % team == 0 &&
           (work.chunks == 1 || work.chunk % team == 0) && has_dense_rows(work, work.reduced, step);
}

bool can_use_vectors(const Reducing &work) {
    const ReductionVariant &variant = work.variant;
    if (variant.masked || !is_dense(work, work.reduced))
        return false;
    const auto length = static_cast<std::size_t>(reduction_vector_length(variant));
    for (std::size_t k = 0; k < work.walkers; ++k) {
        const std::size_t size = work.arrays[k]->item_size();
        if ((work.arrays[k]->misalignment() + static_cast<std::size_t>(work.offsets[k])) %
            (length * size))
            return false;
        for (std::int64_t stride : work.kept[k].strides())
            if (static_cast<std::size_t>(std::abs(stride)) % (length * size) != 0)
                return false;
    }
    return true;
}

/// For kernels whose warps are vectors of a CPU. The kernel computes the position of each word, so
/// arrays may begin at any address.
bool can_use_words(const Reducing &work) {
    return work.variant.rolled && is_of_bytes(work.variant) && is_dense(work, work.reduced);
}

bool can_use_pieces(const Reducing &work) {
    return work.variant.rolled && !can_use_words(work) && is_free_of_order(work.variant) &&
           is_dense(work, work.reduced);
}

bool needs_wide_index(const Reducing &work) {
    constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max() / 2;
    std::int64_t reach = static_cast<std::int64_t>(work.outputs * work.length);
    for (std::size_t k = 0; k < work.walkers; ++k) {
        const auto size = work.arrays[k]->item_size();
        for (const Layout *layout : {&work.kept[k], &work.reduced[k]}) {
            const Layout::ByteRange range = layout->byte_range(size);
            reach = std::max({reach, range.end, -range.begin});
        }
    }
    return reach > limit;
}

// How the work is divided. The division depends on the shape only, so that all devices give equal
// results. Exceptions are words and pieces, whose results do not depend on the order.

/// Whether a thread computes an output alone. Threads whose outputs are not neighbours read short
/// pieces of memory, so these must be shorter.
bool is_for_threads(const Reducing &work, bool outputs_are_neighbours) {
    constexpr std::size_t most = 16, enough = 256;
    constexpr std::int64_t most_in_row = 8;
    const Layout &reduced = work.reduced[0];
    return work.outputs >= enough && work.length <= most && reduced.dimensions() <= 2 &&
           (outputs_are_neighbours || reduced.extent(reduced.dimensions() - 1) <= most_in_row);
}

/// Whether the elements of all outputs are contiguous, or neighbouring outputs have neighbouring
/// elements.
void choose_thread_access(Reducing &work) {
    ReductionVariant &variant = work.variant;
    const Layout &reduced = work.reduced[0];
    const int last = reduced.dimensions() - 1;
    variant.extents = {static_cast<std::uint8_t>(last == 0 ? 1 : reduced.extent(0)),
                       static_cast<std::uint8_t>(reduced.extent(last))};
    variant.rows = is_dense(work, work.reduced) &&
                   is_dense(work, work.kept, static_cast<int>(reduced.extent(0)));
    variant.columns = !variant.rows && is_dense(work, work.kept);
}

void choose_team(Reducing &work) {
    const bool outputs_are_neighbours =
        work.outputs >= 16 && work.variant.kept > 0 &&
        smallest_step(work.kept[0]) < smallest_step(work.reduced[0]);
    if (is_for_threads(work, outputs_are_neighbours)) {
        work.variant.team = Team::Thread;
        choose_thread_access(work);
        return;
    }
    work.variant.words = can_use_words(work) && !outputs_are_neighbours;
    work.variant.pieces = can_use_pieces(work) && !outputs_are_neighbours;
    const std::size_t enough_for_a_warp = work.variant.words ? 8192 : 1024;
    // Words take so little time that states of several warps in shared memory do not pay.
    const bool fill_warps = (work.length <= enough_for_a_warp && work.outputs >= 64) ||
                            (work.variant.pieces && work.outputs >= 256) ||
                            (work.variant.words && work.outputs == 1);
    work.variant.team = outputs_are_neighbours ? Team::Columns
                        : fill_warps           ? Team::Warp
                                               : Team::Block;
}

void choose_chunks(Reducing &work, int processors) {
    constexpr std::size_t wanted_blocks = 2048, unsplit = 8192;
    const auto per_block = static_cast<std::size_t>(work.variant.outputs_per_block());
    const std::size_t blocks = divide_up(work.outputs, per_block);
    const bool any_order = work.variant.words || work.variant.pieces;
    if (any_order && processors == 1) { // no second launch for the states of chunks
        work.chunk = work.length;
        return;
    }
    const bool long_chunks = any_order || work.variant.team == Team::Block;
    const std::size_t largest = work.variant.words ? 262144 : long_chunks ? 65536 : 2048;
    const std::size_t smallest = any_order ? largest : long_chunks ? 4096 : 256;
    work.chunk = work.length;
    if (work.variant.team == Team::Thread)
        return;
    if (work.length > (long_chunks ? unsplit : largest / 2) && blocks < wanted_blocks) {
        const std::size_t even = divide_up(work.length, divide_up(wanted_blocks, blocks));
        work.chunk = std::clamp(divide_up(even, smallest) * smallest, smallest, largest);
    } else if (work.length > largest) {
        work.chunk = largest;
    }
    work.chunks = divide_up(work.length, work.chunk);
    if (work.chunks > 65535) { // the limit of the grid's second extent
        work.chunk = divide_up(divide_up(work.length, 65535), smallest) * smallest;
        work.chunks = divide_up(work.length, work.chunk);
    }
    work.variant.split = work.chunks > 1;
}

/// Whether neighbouring outputs always have elements that are `step` elements apart.
bool has_dense_columns(const Reducing &work, int step) {
    const Layout &kept = work.kept[0];
    const int last = kept.dimensions() - 1;
    return last >= 0 && has_dense_rows(work, work.kept, step) &&
           (last == 0 || kept.extent(last) % 32 == 0);
}

/// The number of columns of a thread: with several, a core reads a long piece of each row. A warp's
/// states must fit the cache of the first level, and all processors need blocks.
int choose_column_groups(const Reducing &work, int processors) {
    constexpr std::size_t most_bytes = 16 << 10;
    const ReductionVariant &variant = work.variant;
    const ReductionRule rule = reduction_row(variant.reduction).rule;
    if (!variant.whole_columns || !variant.dense || variant.reduced != 1 || variant.partials ||
        rule == ReductionRule::Index || rule == ReductionRule::Moments)
        return 1;
    const Layout &kept = work.kept[0];
    const std::int64_t row = kept.extent(kept.dimensions() - 1);
    const auto wanted_blocks = 2 * static_cast<std::size_t>(processors);
    for (int groups = most_column_groups; groups > 1; groups /= 2) {
        const auto columns = 32 * static_cast<std::size_t>(groups);
        const bool fits = kept.dimensions() == 1 || row % (32 * groups) == 0;
        if (fits && work.outputs / columns * work.chunks >= wanted_blocks &&
            2 * columns * state_size(variant) <= most_bytes)
            return groups;
    }
    return 1;
}

/// Rolled kernels with many outputs use no vectors if a chunk is shorter than one step of vector
/// accesses. Only the loop for the remaining elements would then run, which is the slower one.
void choose_access(Reducing &work, int processors) {
    ReductionVariant &variant = work.variant;
    if (variant.team == Team::Thread)
        return;
    variant.vectors =
        !variant.words && !variant.pieces && variant.team != Team::Columns && can_use_vectors(work);
    if (!variant.rolled)
        return;
    const bool columns = variant.team == Team::Columns;
    const std::int8_t step = known_step(work, columns ? work.kept : work.reduced);
    variant.dense = columns ? has_dense_columns(work, step)
                            : is_dense(work, work.reduced, step) || has_whole_rows(work, step);
    variant.step = variant.dense ? step : std::int8_t{1};
    variant.whole_columns = variant.team == Team::Columns && work.outputs % 32 == 0;
    variant.column_groups = static_cast<std::uint8_t>(choose_column_groups(work, processors));
    const auto vectors = static_cast<std::size_t>(reduction_step(variant));
    if (work.outputs >= 64 && std::min(work.chunk, work.length) < vectors)
        variant.vectors = false;
}

void launch_reduction(const Reducing &work, const Array &out, Work &use) {
    std::optional<Function> own; // of an expression
    if (work.variant.expression != nullptr)
        own = work.computed->kernel(work.variant);
    const Function &kernel =
        own ? *own
            : out.context()->kernels().find(work.variant.key(),
                                            reduction_row(work.variant.reduction).numpy_name,
                                            [&] { return reduction_source(work.variant); });
    KernelArguments arguments(use, out);
    for (std::size_t k = 0; k < work.walkers; ++k)
        arguments.add(*work.arrays[k], work.offsets[k]);
    if (work.variant.expression != nullptr)
        add_numbers(arguments, work.computed->expression, work.computed->numbers);
    if (work.variant.finish != ReductionFinish::Plain)
        arguments.add(work.divisor);
    arguments.add_split_axes(work.variant.wide_index, {work.outputs, work.length, work.chunk},
                             {work.kept.data(), work.walkers}, {work.reduced.data(), work.walkers});
    const auto per_block = static_cast<std::size_t>(work.variant.outputs_per_block());
    arguments.launch(kernel, {.grid = {static_cast<unsigned>(divide_up(work.outputs, per_block)),
                                       static_cast<unsigned>(work.chunks)},
                              .block = {static_cast<unsigned>(work.variant.threads())}});
}

/// Whether the second launch can use the kernel of the first launch, so that only one is compiled.
bool is_own_second_stage(const Reducing &first, const Array &states) {
    const auto pack = reduction_vector_length(first.variant) * item_size(first.variant.stored[0]);
    return first.outputs == 1 && first.variant.kept == 0 && first.variant.reduced == 1 &&
           first.variant.team != Team::Columns && first.variant.step == 1 &&
           takes_own_states(first.variant) && states.misalignment() % pack == 0;
}

/// The launch that writes the results.
void finish(Reducing &work, const Reducing &first) {
    work.divisor = first.divisor;
    work.variant.finish = first.finish;
    work.variant.out = first.finished;
}

/// The second launch: reduces the states of each output's chunks to the result.
Reducing second_stage(const Reducing &first, const Array &states) {
    Reducing work;
    work.variant = first.variant;
    work.arrays[0] = &states;
    if (is_own_second_stage(first, states)) {
        work.walkers = 1;
        work.length = work.chunk = first.chunks;
        work.reduced[0].append(static_cast<std::int64_t>(first.chunks),
                               static_cast<std::int64_t>(state_size(first.variant)));
        work.variant.split = first.finish == ReductionFinish::Plain;
        finish(work, first);
        return work;
    }
    work.variant.partials = true;
    work.variant.expression = nullptr;
    work.variant.split = false;
    work.variant.masked = false;
    work.variant.vectors = work.variant.dense = work.variant.words = work.variant.pieces = false;
    work.variant.whole_columns = false;
    work.variant.step = 1;
    work.variant.column_groups = 1;
    work.variant.kept = work.variant.reduced = 1;
    work.variant.team = first.chunks <= 64 && first.outputs >= 64 ? Team::Warp : Team::Block;
    work.walkers = 1;
    work.outputs = first.outputs;
    work.length = work.chunk = first.chunks;
    const auto size = static_cast<std::int64_t>(state_size(first.variant));
    work.kept[0].append(static_cast<std::int64_t>(first.outputs),
                        static_cast<std::int64_t>(first.chunks) * size);
    work.reduced[0].append(static_cast<std::int64_t>(first.chunks), size);
    work.variant.wide_index = needs_wide_index(work);
    finish(work, first);
    return work;
}

void run(Reducing &work, const Array &result, StreamRef stream) {
    Work use(stream);
    if (!work.variant.split) {
        finish(work, work);
        return launch_reduction(work, result, use);
    }
    const std::int64_t bytes[] = {
        static_cast<std::int64_t>(work.outputs * work.chunks * state_size(work.variant))};
    const Array states = Array::scratch(result.context(), bytes, ScalarType::UInt8, stream);
    Reducing second = second_stage(work, states);
    if (second.variant.key() != work.variant.key())
        result.context()->kernels().expect(second.variant.key(),
                                           reduction_row(second.variant.reduction).numpy_name,
                                           [&] { return reduction_source(second.variant); });
    launch_reduction(work, states, use);
    launch_reduction(second, result, use);
}

/// If there are no elements to reduce: fills the result with the identity, finished.
void fill_identity(Reduction reduction, const Array &result, const ReduceOptions &options) {
    const bool one = reduction == Reduction::Prod || reduction == Reduction::NanProd ||
                     reduction == Reduction::All;
    Scalar value = Scalar::weak(std::int64_t{one});
    if (options.finish != ReductionFinish::Plain) {
        const double quotient = static_cast<double>(one) / options.divisor;
        // A complex number divided by zero is NaN in both parts.
        value = std::isnan(quotient) && is_complex(result.scalar_type())
                    ? Scalar::weak(quotient, quotient)
                : options.finish == ReductionFinish::DivideRoot ? Scalar::weak(std::sqrt(quotient))
                                                                : Scalar::weak(quotient);
    }
    assign(result, Operand(value), Casting::Unsafe, options.stream);
}

Array reduce(Reduction reduction, std::span<const Array *const> inputs,
             const ReduceOptions &options, const ComputedElements *computed) {
    if (!std::ranges::all_of(inputs, [](const Array *input) { return input->is_aligned(); })) {
        std::vector<Array> copies;
        for (const Array *input : inputs)
            copies.push_back(aligned(*input, options.stream));
        std::vector<const Array *> pointers;
        for (const Array &copy : copies)
            pointers.push_back(&copy);
        return reduce(reduction, pointers, options, computed);
    }
    Reducing work;
    work.variant.reduction = reduction;
    work.computed = computed;
    work.variant.expression = computed == nullptr ? nullptr : &computed->expression;
    work.variant.masked = options.where != nullptr;
    work.variant.rolled = is_rolled();
    choose_types(work.variant, inputs, options);
    choose_finish(work, options);
    const Layout shape = common_shape(inputs);
    if (options.where != nullptr)
        static_cast<void>(options.where->layout().broadcast_to(shape.shape()));
    split_axes(work, inputs, shape, options);
    const std::shared_ptr<ArrayContext> &context = context_or_current(*inputs[0]);
    const Array result =
        Array::with_layout(context,
                           layout_of_results(work.kept[0], options.axes, shape.dimensions(),
                                             options.keep_axes, item_size(work.finished)),
                           work.finished, options.stream);
    if (work.outputs == 0)
        return result;
    if (work.length == 0 && !has_identity(reduction))
        throw std::invalid_argument("zero-size array to reduction operation " +
                                    std::string(reduction_row(reduction).numpy_name) +
                                    " which has no identity");
    if (work.length == 0) {
        fill_identity(reduction, result, options);
        return result;
    }
    merge_axes(work);
    choose_team(work);
    work.variant.wide_index = needs_wide_index(work);
    choose_chunks(work, context->traits().processors);
    choose_access(work, context->traits().processors);
    run(work, result, options.stream);
    return result;
}

} // namespace

Array reduce(Reduction reduction, std::span<const Array *const> inputs,
             const ReduceOptions &options) {
    return reduce(reduction, inputs, options, nullptr);
}

Array reduce(Reduction reduction, std::span<const Array *const> inputs,
             const ReduceOptions &options, const ComputedElements &elements) {
    return reduce(reduction, inputs, options, &elements);
}

} // namespace pycuda
