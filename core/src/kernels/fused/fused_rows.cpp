// fused_rows.cpp -- decides whether a fused program can be one kernel, and launches it.
#include "kernels/fused/fused_rows.h"

#include "arrays/array_axes.h"
#include "arrays/device_code.h"
#include "arrays/kernel_arguments.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace pycuda {
namespace {

/// One call: the layouts of the results and the arrays, and the variant of the kernel.
struct Call {
    RowVariant variant;
    Layout shape;
    std::uint32_t axes = 0;
    bool has_all_axes = false;
    std::array<const Array *, max_row_walkers> arrays{};
    std::array<Layout, max_row_walkers> kept, reduced;
    std::array<std::int64_t, max_row_walkers> offsets{};
    std::size_t rows = 1, length = 1;
    std::size_t lead = 0; ///< a walker of the whole shape
};

std::uint32_t axes_of(const FusedStage &stage, int dimensions) {
    return fused_axes(*stage.reduction, dimensions);
}

bool is_of_shape(const Array &array, const Layout &shape) {
    return array.layout().same_shape(shape);
}

/// Chooses the team by the shape. False if the rows are better computed stage by stage: they do not
/// fit the cache, or there are too few of them for all processors.
bool choose_team(Call &call, const Layout &kept, const Layout &reduced) {
    constexpr std::size_t few = 1 << 16; // elements for which the launches take most of the time
    const std::size_t rows = call.rows, length = call.length;
    RowVariant &variant = call.variant;
    if (rows >= 16 && smallest_step(kept) < smallest_step(reduced)) {
        variant.columns = true;
        variant.team = 8;
        return length <= 2048 && (rows * length <= few || rows >= 4096);
    }
    variant.team = length <= 16 && rows >= 256                       ? 1
                   : length <= 256 || (length <= 1024 && rows >= 64) ? 32
                                                                     : 256;
    return length <= 8192 && (length <= 1024 || rows * length <= few || rows >= 64);
}

RowStep step_of(const Layout &layout, std::size_t size) {
    if (layout.dimensions() != 1)
        return RowStep::Any;
    return layout.stride(0) == static_cast<std::int64_t>(size) ? RowStep::Dense
           : layout.stride(0) == 0                             ? RowStep::Same
                                                               : RowStep::Any;
}

void merge_axes(Call &call, bool any_order) {
    const std::span<std::int64_t> offsets(call.offsets.data(), call.variant.walkers);
    const std::span<Layout> kept(call.kept.data(), call.variant.walkers);
    const std::span<Layout> reduced(call.reduced.data(), call.variant.walkers);
    const auto swap_lead = [&] {
        std::swap(kept[0], kept[call.lead]);
        std::swap(reduced[0], reduced[call.lead]);
        std::swap(offsets[0], offsets[call.lead]);
    };
    swap_lead();
    sort_axes(kept, offsets);
    coalesce(kept);
    if (any_order)
        sort_axes(reduced, offsets);
    coalesce_to_axes(reduced);
    swap_lead();
    RowVariant &variant = call.variant;
    variant.kept = kept[0].dimensions();
    variant.reduced = reduced[0].dimensions();
    constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max() / 2;
    for (std::size_t k = 0; k < variant.walkers; ++k) {
        const std::size_t size = call.arrays[k]->item_size();
        variant.row_step[k] = step_of(kept[k], size);
        variant.element_step[k] = step_of(reduced[k], size);
        for (const Layout &layout : {kept[k], reduced[k]}) {
            const Layout::ByteRange range = layout.byte_range(size);
            if (std::max(range.end, -range.begin) > limit)
                variant.wide_index = true;
        }
    }
    if (static_cast<std::int64_t>(call.rows) > limit)
        variant.wide_index = true;
}

/// The layout of a value of rows for the whole shape: all elements of a row are one.
Layout spread(const Call &call, const Layout &rows) {
    const bool keeps_axes = rows.dimensions() == call.shape.dimensions();
    Layout layout;
    int next = 0;
    for (int axis = 0; axis < call.shape.dimensions(); ++axis) {
        const bool is_reduced = call.axes >> axis & 1;
        layout.append(call.shape.extent(axis), is_reduced ? 0 : rows.stride(next));
        next += keeps_axes || !is_reduced;
    }
    return layout;
}

/// The kept axes of each value of rows: whether the reduced ones stay. Nothing if the values of the
/// program do not have the shapes that one kernel computes.
class RowShapes {
  public:
    RowShapes(const RowStages &program, const Call &call) : program_(program), call_(call) {}

    bool fit(std::span<const Array *const> arrays) {
        kinds_.assign(static_cast<std::size_t>(program_.arrays), Kind::Element);
        for (const FusedStage &stage : program_.stages)
            if (!add(stage, arrays))
                return false;
        return true;
    }
    bool is_element(int value) const { return kind(value) == Kind::Element; }
    bool keeps_axes(int value) const { return kind(value) == Kind::KeptRow; }

  private:
    enum class Kind : std::uint8_t { Element, KeptRow, Row };
    Kind kind(int value) const { return kinds_[static_cast<std::size_t>(value)]; }

    bool add(const FusedStage &stage, std::span<const Array *const> arrays) {
        const bool reads = program_.reads_arrays(stage);
        if (reads && !has_whole_shape(stage, arrays))
            return false;
        bool any_kept = false, any_bare = false;
        for (int value : stage.inputs) {
            any_kept = any_kept || kind(value) == Kind::KeptRow;
            any_bare = any_bare || kind(value) == Kind::Row;
            if (value >= program_.arrays && kind(value) == Kind::Element)
                return false;
        }
        // Values without the reduced axes broadcast with others only if they have no axes at all.
        if (any_bare && (reads || any_kept || stage.reduction) && !call_.has_all_axes)
            return false;
        if (stage.reduction) {
            if (axes_of(stage, call_.shape.dimensions()) != call_.axes ||
                (any_bare && !reads && stage.reduction->axes))
                return false;
            kinds_.push_back(stage.reduction->keep_axes ? Kind::KeptRow : Kind::Row);
            return true;
        }
        kinds_.insert(kinds_.end(), static_cast<std::size_t>(stage.fusion.result_count()),
                      reads      ? Kind::Element
                      : any_kept ? Kind::KeptRow
                                 : Kind::Row);
        return true;
    }

    bool has_whole_shape(const FusedStage &stage, std::span<const Array *const> arrays) const {
        Layout shape;
        for (int value : stage.inputs) {
            if (value >= program_.arrays)
                continue;
            const Array &array = *arrays[static_cast<std::size_t>(value)];
            if (is_of_shape(array, call_.shape))
                return true;
            shape = broadcast_shapes(shape, array.layout());
        }
        return shape.same_shape(call_.shape);
    }

    const RowStages &program_;
    const Call &call_;
    std::vector<Kind> kinds_;
};

/// Whether the kernel's parameters fit the driver's limit, whatever axes are merged.
bool fit_parameters(const Call &call, const TypedRows &types) {
    constexpr std::size_t most = 4000;
    const auto axes = static_cast<std::size_t>(call.shape.dimensions()) + 2;
    std::size_t size = 8 * (2 + axes * (1 + call.variant.walkers) + call.variant.walkers);
    for (const TypedExpression &typed : types.expressions)
        size += 16 * (typed.numbers.size() + 1);
    return size <= most;
}

std::vector<Array> allocate(const RowStages &program, const TypedRows &types, const Call &call,
                            const RowShapes &shapes, const Array *like, StreamRef stream) {
    std::vector<Array> results;
    const std::shared_ptr<ArrayContext> &context = call.arrays[program.results.size()]->context();
    for (int value : program.results) {
        const ScalarType type = types.values[static_cast<std::size_t>(value)];
        const std::size_t size = item_size(type);
        const Layout whole =
            like == nullptr ? Layout::contiguous(call.shape.shape(), size) : like->layout();
        Layout kept, reduced;
        split_axes(whole, call.axes, kept, reduced);
        const Layout layout = shapes.is_element(value)
                                  ? whole.dense(size)
                                  : layout_of_results(kept, call.axes, whole.dimensions(),
                                                      shapes.keeps_axes(value), size);
        results.push_back(Array::with_layout(context, layout, type, stream));
    }
    return results;
}

void launch(const Call &call, const RowStages &program, const TypedRows &types,
            const Function &kernel, StreamRef stream) {
    Work use(stream);
    KernelArguments arguments(use);
    for (std::size_t k = 0; k < call.variant.walkers; ++k)
        arguments.add(*call.arrays[k], call.offsets[k]);
    for (std::size_t k = 0; k < program.stages.size(); ++k) {
        const auto &[expression, numbers] = types.expressions[k];
        add_numbers(arguments, expression, numbers);
        if (const auto &reduction = program.stages[k].reduction;
            reduction && reduction->mean_of_less) {
            const bool reads = program.reads_arrays(program.stages[k]);
            const double count = reads ? static_cast<double>(call.length) : 1.0;
            arguments.add(std::max(count - *reduction->mean_of_less, 0.0));
        }
    }
    const std::size_t walkers = call.variant.walkers;
    arguments.add_split_axes(call.variant.wide_index, {call.rows, call.length},
                             {call.kept.data(), walkers}, {call.reduced.data(), walkers});
    const std::size_t per_block = call.variant.rows_of_block();
    arguments.launch(
        kernel,
        {.grid = {static_cast<unsigned>((call.rows + per_block - 1) / per_block)}, .block = {256}});
}

/// Fills a call, except for the results. Returns why the call cannot be one kernel, or null.
const char *prepare(const RowStages &program, std::span<const Array *const> arrays, Call &call,
                    RowShapes &shapes) {
    const std::size_t first = program.results.size(), count = program.walked.size();
    call.variant.walkers = first + count;
    const std::span<const Array *> used(call.arrays.data() + first, count);
    for (std::size_t k = 0; k < count; ++k) {
        used[k] = arrays[static_cast<std::size_t>(program.walked[k])];
        if (!used[k]->is_aligned() || used[k]->memory() == nullptr)
            return "an array does not begin at a multiple of its elements' size";
    }
    if (std::ranges::any_of(arrays, [](const Array *a) { return a->dtype().is_opaque(); }))
        return "an array has elements that are no numbers";
    call.shape = common_shape(used);
    const auto reducing =
        std::ranges::find_if(program.stages, [](const FusedStage &s) { return !!s.reduction; });
    const int dimensions = call.shape.dimensions();
    call.axes = axes_of(*reducing, dimensions);
    call.has_all_axes = std::popcount(call.axes) == dimensions;
    for (int axis = 0; axis < dimensions; ++axis)
        ((call.axes >> axis & 1) ? call.length : call.rows) *=
            static_cast<std::size_t>(call.shape.extent(axis));
    if (call.rows == 0 || call.length == 0)
        return "there are no elements";
    if (!shapes.fit(arrays))
        return "the reductions have different axes or shapes";
    const auto like = std::ranges::find_if(
        used, [&](const Array *array) { return is_of_shape(*array, call.shape); });
    if (like == used.end())
        return "no array has the shape to which all broadcast";
    call.lead = first + static_cast<std::size_t>(like - used.begin());
    for (std::size_t k = 0; k < count; ++k)
        split_axes(used[k]->layout().broadcast_to(call.shape.shape()), call.axes,
                   call.kept[first + k], call.reduced[first + k]);
    if (!choose_team(call, call.kept[call.lead], call.reduced[call.lead]))
        return "the rows are too long, or too few for all processors";
    return nullptr;
}

constexpr const char *too_many_parameters = "there are too many arrays, axes and constants";

} // namespace

bool RowStages::reads_arrays(const FusedStage &stage) const noexcept {
    return std::ranges::any_of(stage.inputs, [&](int value) { return value < arrays; });
}

std::size_t RowStages::walker_of(int array) const noexcept {
    return results.size() +
           static_cast<std::size_t>(std::ranges::find(walked, array) - walked.begin());
}

std::shared_ptr<FusedRows> FusedRows::of(int arrays, const std::vector<FusedStage> &stages,
                                         const std::vector<int> &results) {
    RowStages program{arrays, stages, results};
    int next = arrays;
    std::size_t reductions = 0;
    std::string text = std::to_string(arrays);
    for (const FusedStage &stage : stages) {
        program.first_value.push_back(next);
        next += stage.reduction ? 1 : stage.fusion.result_count();
        text += "/" + stage.fusion.text();
        for (int value : stage.inputs) {
            text += "," + std::to_string(value);
            if (value < arrays && std::ranges::find(program.walked, value) == program.walked.end())
                program.walked.push_back(value);
        }
        if (!stage.reduction)
            continue;
        ++reductions;
        const FusedReduction &reduction = *stage.reduction;
        text += "r" + std::to_string(static_cast<int>(reduction.reduction)) + ":" +
                (reduction.dtype ? std::to_string(static_cast<int>(*reduction.dtype)) : "") +
                (reduction.mean_of_less ? "m" : "");
        if (reduction_inputs(reduction.reduction) != 1)
            return nullptr;
    }
    for (int result : results)
        text += ">" + std::to_string(result);
    if (reductions == 0 || stages.size() < 2 || program.walked.empty() ||
        program.walked.size() + results.size() > max_row_walkers)
        return nullptr;
    std::shared_ptr<FusedRows> rows(new FusedRows(std::move(program)));
    rows->text_ = std::move(text);
    return rows;
}

const TypedRows &FusedRows::typed(std::span<const Array *const> arrays) {
    const std::lock_guard lock(mutex_);
    for (const TypedRows &known : known_)
        if (std::ranges::equal(arrays, std::span(known.values).first(arrays.size()), {},
                               [](const Array *array) { return array->scalar_type(); }))
            return known;
    TypedRows made;
    for (const Array *array : arrays)
        made.values.push_back(array->scalar_type());
    for (const FusedStage &stage : program_.stages) {
        std::vector<ScalarType> inputs;
        for (int value : stage.inputs)
            inputs.push_back(made.values[static_cast<std::size_t>(value)]);
        const TypedExpression &typed =
            made.expressions.emplace_back(stage.fusion.expression(inputs));
        ReductionVariant reduction{};
        if (stage.reduction) {
            reduction.reduction = stage.reduction->reduction;
            reduction.expression = &typed.expression;
            reduction.stored[0] = typed.expression.type_of(typed.expression.results[0]);
            choose_result_types(reduction, reduction.stored[0], stage.reduction->dtype);
            if (stage.reduction->mean_of_less)
                reduction.finish = ReductionFinish::Divide;
            made.values.push_back(reduction.out);
        } else {
            for (int result : typed.expression.results)
                made.values.push_back(typed.expression.type_of(result));
        }
        made.reductions.push_back(reduction);
    }
    return known_.emplace_back(std::move(made));
}

Function FusedRows::kernel(const TypedRows &types, const RowVariant &variant) {
    return types.used.get(mutex_, variant, [&](std::string &key) {
        key = text_ + "|" + std::to_string(variant.team) + "," +
              std::to_string(variant.columns | variant.rolled << 1 | variant.wide_index << 2) +
              "," + std::to_string(variant.kept) + "," + std::to_string(variant.reduced);
        for (std::size_t k = 0; k < variant.walkers; ++k)
            key += "," + std::to_string(3 * static_cast<int>(variant.row_step[k]) +
                                        static_cast<int>(variant.element_step[k]));
        for (const TypedExpression &typed : types.expressions) // of arrays and constants
            for (const Expression::Operand &operand : typed.expression.operands)
                key += ";" + std::to_string(static_cast<int>(operand.type));
        return [&] { return KernelSource{fused_rows_source(program_, types, variant), {"run"}}; };
    });
}

std::string FusedRows::obstacle(std::span<const Array *const> arrays) {
    Call call;
    RowShapes shapes(program_, call);
    if (const char *reason = prepare(program_, arrays, call, shapes))
        return reason;
    return fit_parameters(call, typed(arrays)) ? "" : too_many_parameters;
}

std::optional<std::vector<Array>> FusedRows::run(std::span<const Array *const> arrays,
                                                 StreamRef stream) {
    Call call;
    RowShapes shapes(program_, call);
    if (prepare(program_, arrays, call, shapes) != nullptr)
        return {};
    call.variant.rolled = is_rolled();
    const TypedRows &types = typed(arrays);
    if (!fit_parameters(call, types))
        return {};
    const std::size_t first = program_.results.size();
    const bool all_c =
        std::all_of(call.arrays.begin() + static_cast<std::ptrdiff_t>(first),
                    call.arrays.begin() + static_cast<std::ptrdiff_t>(call.variant.walkers),
                    [](const Array *a) { return a->is_c_contiguous(); });
    std::vector<Array> results =
        allocate(program_, types, call, shapes, all_c ? nullptr : call.arrays[call.lead], stream);
    bool any_order = true;
    for (std::size_t k = 0; k < program_.stages.size(); ++k)
        if (program_.stages[k].reduction &&
            reduction_row(types.reductions[k].reduction).rule == ReductionRule::Index)
            any_order = false;
    for (std::size_t k = 0; k < first; ++k) {
        call.arrays[k] = &results[k];
        split_axes(shapes.is_element(program_.results[k]) ? results[k].layout()
                                                          : spread(call, results[k].layout()),
                   call.axes, call.kept[k], call.reduced[k]);
    }
    merge_axes(call, any_order);
    launch(call, program_, types, kernel(types, call.variant), stream);
    return results;
}

} // namespace pycuda
