// array_rows.cpp -- copies rows that indices select, and checks the indices.
#include "arrays/operations/rows.h"

#include "arrays/array_axes.h"
#include "arrays/device_code.h"
#include "arrays/error_flags.h"
#include "arrays/index_check.h"
#include "arrays/word.h"

#include "arrays/device/axes.cuh.h"
#include "arrays/operations/device/rows.cuh.h"

#include <pycuda/array_operation.h>
#include <pycuda/copy.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace pycuda {
namespace {

constexpr unsigned block = 256;
constexpr std::int64_t small = 4096; ///< words for one block that checks the indices itself

enum class Task : std::uint8_t { Take, Put, Check };

/// All that a kernel's source depends on.
struct Copying {
    Task task;
    ScalarType index;
    std::size_t word = 1;
    std::int64_t words = 1; ///< of a row
    std::int64_t n = 0;     ///< words of all rows
    bool is_small = false;
    int axes = 0; ///< of a row whose words are not contiguous

    KernelKey key() const noexcept {
        return {KernelFamily::Rows,
                {{task, 2},
                 {is_small, 1},
                 {index, 4},
                 {word, 5},
                 {words == 1, 1},
                 {is_wide(n), 1},
                 {axes, 6}}};
    }
};

std::string_view name_of(Task task) {
    constexpr std::string_view names[] = {"take_rows", "put_rows", "check_rows"};
    return names[static_cast<std::size_t>(task)];
}

std::string source_of(const Copying &copying) {
    std::string code = rows_prelude(copying.index, copying.words, copying.n) + "typedef " +
                       word_name(copying.word) + " Word;\n";
    for (auto [task, name] :
         {std::pair{Task::Take, "TAKE"}, {Task::Put, "PUT"}, {Task::Check, "CHECK"}})
        code += define(name, task == copying.task);
    return code + define("SMALL", copying.is_small) + define("AXES", copying.axes) +
           std::string(device_code::axes_cuh) + std::string(device_code::rows_cuh);
}

/// Equals the kernels' struct.
struct Geometry {
    std::int64_t n, words, extent, stride, dense_row, dense_word, wrap;
};

void launch(const Copying &copying, const Array *dense, CUdeviceptr outside, const Array *base,
            const Array &places, const Geometry &geometry, Work &use, const Layout &row = {}) {
    const Function &kernel = places.context()->kernels().find(copying.key(), name_of(copying.task),
                                                              [&] { return source_of(copying); });
    KernelArguments arguments(use, dense, LibraryAddress{outside}, base, OnlyRead{&places},
                              geometry);
    for (int axis = 0; axis < copying.axes; ++axis)
        arguments.add(row.extent(axis));
    for (int axis = 0; axis < copying.axes; ++axis)
        arguments.add(row.stride(axis));
    arguments.launch_for(kernel, copying.is_small ? 1 : static_cast<std::size_t>(geometry.n),
                         block);
}

std::int64_t row_size(const Array &base) {
    std::int64_t size = 1;
    for (std::int64_t extent : base.shape().subspan(1))
        size *= extent;
    return size;
}

/// The shape of the indices followed by the shape of a row.
std::vector<std::int64_t> selected_shape(const Array &base, const Array &places) {
    std::vector<std::int64_t> shape(places.shape().begin(), places.shape().end());
    shape.insert(shape.end(), base.shape().begin() + 1, base.shape().end());
    return shape;
}

void check_arguments(const Array &base, const Array &places, const Array &dense) {
    if (base.dimensions() == 0)
        throw std::invalid_argument("an array without axes has no rows");
    check_index_type(places);
    if (dense.dtype() != base.dtype())
        throw std::invalid_argument("elements of " + dense.dtype().name() + " do not fit rows of " +
                                    base.dtype().name());
}

std::size_t word_of_rows(const Array &base, const Array &dense, std::int64_t row_bytes,
                         std::uint64_t dense_steps) {
    const auto stride = static_cast<std::uint64_t>(base.layout().stride(0));
    return word_bytes(static_cast<std::size_t>(row_bytes),
                      stride | base.misalignment() | dense.misalignment() | dense_steps);
}

/// Queues the check and the kernel, and waits for the check. False if an index is out of bounds.
bool run_and_wait(const RowChecks &checks, Work &use, const std::function<void(CUdeviceptr)> &run) {
    const Array &places = checks.places;
    ErrorFlags::Call outside(places.context()->error_flags(), use, [&] {
        return std::array{index_out_of_bounds(checks.call, 0, checks.extent)};
    });
    if (checks.has_work && checks.is_small) {
        run(outside.address());
        return outside.wait(1) < 0;
    }
    const std::int64_t one[] = {1};
    const Array failed = Array::scratch(places.context(), one, ScalarType::Int32, use.stream());
    fill_async<std::uint32_t>(use.write(failed), 0, 1, use.stream());
    const auto n = static_cast<std::int64_t>(places.size());
    launch({.task = Task::Check, .index = places.scalar_type(), .n = n}, &failed, outside.address(),
           nullptr, places, {n, 1, checks.extent, 0, 0, 0, 1}, use);
    outside.mark_last_use(); // the host need not wait for the second kernel
    if (checks.has_work)
        run(use.write(failed));
    return outside.wait(1) < 0;
}

} // namespace

Layout words_of_row(const Array &base, std::size_t word) {
    const auto size = static_cast<std::int64_t>(word);
    const auto item = static_cast<std::int64_t>(base.item_size());
    Layout row;
    for (int axis = 1; axis < base.dimensions(); ++axis)
        row.append(base.layout().extent(axis), base.layout().stride(axis));
    row.append(item / size, size);
    Layout layouts[] = {row, Layout::contiguous(row.shape(), word)};
    coalesce_to_axes(layouts);
    return layouts[0];
}

Array row_indices(const Array &places, StreamRef stream) { return compact(places, stream); }

Array row_indices(const Array &places, const Array &target, StreamRef stream) {
    return row_indices(separate(places, target, stream), stream);
}

void check_index_type(const Array &places) {
    const bool is_index =
        places.dtype() == DType(ScalarType::Int64) || places.dtype() == DType(ScalarType::Int32);
    if (!is_index)
        throw std::invalid_argument("indices of rows must have dtype int32 or int64, not " +
                                    places.dtype().name());
}

Array separate(const Array &values, const Array &target, StreamRef stream) {
    if (!values.may_share_memory(target) && values.is_aligned())
        return values;
    const Array copy = Array::scratch(values.context(), values.shape(), values.dtype(), stream);
    assign(copy, values, Casting::No, stream);
    return copy;
}

std::string rows_prelude(ScalarType index, std::int64_t width, std::int64_t n) {
    return type_alias("I", cuda_name(index)) + define("ONE", width == 1) +
           type_alias("Count", is_wide(n) ? "unsigned long long" : "unsigned");
}

RowSteps row_steps(Array &in, const Array &base, const Array &places, StreamRef stream) {
    const std::vector<std::int64_t> shape = selected_shape(base, places);
    const Layout layout = in.layout().broadcast_to(shape);
    if (layout.size() == 0)
        return {};
    if (std::ranges::all_of(layout.strides(), [](std::int64_t stride) { return stride == 0; }))
        return {};
    // One row for all indices.
    const auto axes = static_cast<std::size_t>(places.dimensions());
    const std::span<const std::int64_t> strides = layout.strides();
    const bool is_one_row =
        std::ranges::all_of(strides.first(axes), [](std::int64_t stride) { return stride == 0; });
    if (is_one_row && in.is_c_contiguous())
        return {0, 1};
    if (!std::ranges::equal(in.shape(), shape) || !in.is_c_contiguous()) {
        const Array copy = Array::scratch(in.context(), shape, in.dtype(), stream);
        assign(copy, in.view(layout), Casting::No, stream);
        in = copy;
    }
    return {row_size(base), 1};
}

bool run_checked(const RowChecks &checks, Work &use, const std::function<void(CUdeviceptr)> &run) {
    if (!checks.checked) {
        if (checks.has_work)
            run(0);
        return true;
    }
    const detail::IndexCheck check(checks.asked, checks.extent, use);
    if (check.is_known()) {
        if (checks.has_work)
            run(0);
        return true;
    }
    const bool inside = run_and_wait(checks, use, run);
    if (inside)
        check.pass();
    return inside;
}

bool has_rows(const Array &array) noexcept {
    if (array.dimensions() == 0)
        return false;
    auto expected = static_cast<std::int64_t>(array.item_size());
    for (int axis = array.dimensions() - 1; axis > 0; --axis) {
        if (array.layout().extent(axis) != 1 && array.layout().stride(axis) != expected)
            return false;
        expected *= array.layout().extent(axis);
    }
    return true;
}

bool take_rows(const Array &out, const Array &base, RowIndices indices, StreamRef stream) {
    const Array &places = *indices.places;
    check_arguments(base, places, out);
    if (!out.is_c_contiguous() || !std::ranges::equal(out.shape(), selected_shape(base, places)))
        throw std::invalid_argument("the array for the rows must be contiguous, of shape " +
                                    shape_text(selected_shape(base, places)) + ", not " +
                                    shape_text(out.shape()));
    const auto item = static_cast<std::int64_t>(base.item_size());
    const std::int64_t bytes = row_size(base) * item;
    const bool has_words = bytes != 0 && base.size() != 0;
    if (places.size() == 0 || (!has_words && !indices.checked))
        return true;
    const Array from = row_indices(places, stream);
    Work use(stream);
    const std::int64_t extent = base.layout().extent(0);
    Copying copying{.task = Task::Take, .index = from.scalar_type()};
    const bool is_dense = has_rows(base);
    std::uint64_t steps = 0;
    if (!is_dense)
        for (std::int64_t step : base.layout().strides())
            steps |= static_cast<std::uint64_t>(step);
    copying.word = word_of_rows(base, out, is_dense ? bytes : item, steps);
    const Layout row = is_dense ? Layout() : words_of_row(base, copying.word);
    copying.axes = row.dimensions();
    copying.words = bytes / static_cast<std::int64_t>(copying.word);
    copying.n = copying.words * static_cast<std::int64_t>(from.size());
    const Geometry geometry{copying.n, copying.words,  extent, base.layout().stride(0), 0,
                            0,         indices.checked};
    return run_checked({"x[indices]", places, from, extent, indices.checked, true, has_words}, use,
                       [&](CUdeviceptr outside) {
                           launch(copying, &out, outside, &base, from, geometry, use, row);
                       });
}

bool put_rows(const Array &base, RowIndices indices, const Array &in, StreamRef stream) {
    const Array &places = *indices.places;
    check_arguments(base, places, in);
    if (!has_rows(base))
        throw std::invalid_argument("the elements of a row must be contiguous");
    base.require_writable("the array to assign to");
    Array dense = separate(in, base, stream);
    const RowSteps steps = row_steps(dense, base, places, stream);
    if (places.size() == 0)
        return true;
    const Array to = row_indices(places, base, stream);
    const auto item = static_cast<std::int64_t>(base.item_size());
    const std::int64_t bytes = base.size() == 0 ? item : row_size(base) * item;
    Copying copying{.task = Task::Put, .index = to.scalar_type()};
    // A row that repeats one element is copied element by element.
    const bool repeats = steps.element == 0 && bytes != item;
    copying.word = word_of_rows(base, dense, repeats ? item : bytes,
                                static_cast<std::uint64_t>(repeats ? item : 0));
    const auto word = static_cast<std::int64_t>(copying.word);
    if (repeats && word != item) {
        dense = Array::scratch(base.context(), selected_shape(base, places), in.dtype(), stream);
        assign(dense, in, Casting::No, stream);
        return put_rows(base, {&to, indices.checked}, dense, stream);
    }
    copying.words = bytes / word;
    copying.n = copying.words * static_cast<std::int64_t>(to.size());
    copying.is_small = indices.checked && copying.n <= small && base.size() != 0;
    const std::int64_t extent = base.layout().extent(0);
    const Geometry geometry{
        copying.n,       copying.words,  extent, base.layout().stride(0), steps.row * item / word,
        repeats ? 0 : 1, indices.checked};
    Work use(stream);
    return run_checked(
        {"x[indices] = y", places, to, extent, indices.checked, copying.is_small, base.size() != 0},
        use,
        [&](CUdeviceptr failed) { launch(copying, &dense, failed, &base, to, geometry, use); });
}

} // namespace pycuda
