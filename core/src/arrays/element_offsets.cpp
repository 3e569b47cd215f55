// element_offsets.cpp -- computes offsets of elements, or copies elements, from arrays of indices,
// and checks the indices.
#include <pycuda/array_gather.h>

#include "arrays/array_axes.h"
#include "arrays/device_code.h"
#include "arrays/error_flags.h"
#include "arrays/index_check.h"
#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"
#include "arrays/word.h"

#include "arrays/device/axes.cuh.h"
#include "arrays/device/indexed.cuh.h"

#include <pycuda/array_operation.h>
#include <pycuda/copy.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pycuda {
namespace {

constexpr unsigned block = 256;
constexpr std::size_t small = 4096; ///< elements for one block that checks the indices itself

enum class Task : std::uint8_t { Offsets, Gather, Scatter, Check };

/// The task of a kernel; see indexed.cuh.
struct Indexing {
    Task task;
    std::size_t word = 1, words = 1; ///< per element
    std::size_t arrays = 1;
    int dimensions = 1;
    bool is_small = false; ///< one block checks the indices and scatters

    KernelKey key() const noexcept {
        return {KernelFamily::Indexing,
                {{task, 2}, {words, 40}, {word, 5}, {arrays, 7}, {dimensions, 7}, {is_small, 1}}};
    }
};

std::string_view name_of(Task task) {
    constexpr std::string_view names[] = {"index_offsets", "gather", "scatter", "check_indices"};
    return names[static_cast<std::size_t>(task)];
}

std::string source_of(const Indexing &indexing) {
    std::string code = std::string("typedef ") + word_name(indexing.word) + " Word;\n" +
                       define("ARRAYS", indexing.arrays) + define("AXES", indexing.dimensions) +
                       define("WORDS", indexing.words);
    constexpr std::pair<Task, const char *> names[] = {
        {Task::Offsets, "OFFSETS"}, {Task::Gather, "GATHER"}, {Task::Scatter, "SCATTER"}};
    code += define_no_element();
    for (auto [task, name] : names)
        code += define(name, task == indexing.task);
    return code + define("SMALL", indexing.is_small) + std::string(device_code::axes_cuh) +
           std::string(device_code::indexed_cuh);
}

void check(std::span<const IndexedAxis> axes) {
    if (axes.empty())
        throw std::invalid_argument("offsets of elements need indices for at least one axis");
    for (const IndexedAxis &axis : axes) {
        if (axis.indices->scalar_type() != ScalarType::Int64)
            throw std::invalid_argument("indices must have dtype int64, not " +
                                        axis.indices->dtype().name());
        if (!std::ranges::equal(axis.indices->shape(), axes[0].indices->shape()))
            throw std::invalid_argument("indices of all axes must have the same shape");
    }
}

/// The arrays of a call in addition to the indices: offsets or elements in the shape of the
/// indices, `step` bytes apart, and the base array. Either may be null.
struct Ends {
    const Array *dense = nullptr;
    std::int64_t step = 0;
    const Array *base = nullptr;
};

/// `outside`: of indexed.cuh.
void launch(std::span<const IndexedAxis> axes, Indexing indexing, const Ends &ends,
            CUdeviceptr outside, Work &use) {
    std::vector<Layout> layouts;
    for (const IndexedAxis &axis : axes)
        layouts.push_back(axis.indices->layout());
    const std::size_t count = axes[0].indices->size();
    coalesce_to_axes(layouts);
    indexing.arrays = axes.size();
    indexing.dimensions = layouts[0].dimensions();
    const Function &kernel = axes[0].indices->context()->kernels().find(
        indexing.key(), name_of(indexing.task), [&] { return source_of(indexing); });
    KernelArguments arguments(use, ends.dense, ends.step, LibraryAddress{outside}, ends.base);
    for (const IndexedAxis &axis : axes)
        arguments.add(OnlyRead{axis.indices});
    for (const IndexedAxis &axis : axes)
        arguments.add(axis.extent);
    for (const IndexedAxis &axis : axes)
        arguments.add(axis.stride);
    arguments.add(static_cast<std::int64_t>(count));
    arguments.add_axes(layouts);
    arguments.launch_for(kernel, indexing.is_small ? 1 : count, block);
}

/// The errors of recorded work, for each indexed axis.
std::vector<FailedCheck> failures_of(std::span<const IndexedAxis> axes) {
    std::vector<FailedCheck> failures;
    for (const IndexedAxis &axis : axes)
        failures.push_back(
            index_out_of_bounds("x[indices]", static_cast<int>(failures.size()), axis.extent));
    return failures;
}

/// The checks of the indices of all axes.
class AxisChecks {
  public:
    AxisChecks(std::span<const IndexedAxis> axes, const Work &use) {
        for (const IndexedAxis &axis : axes)
            checks_.emplace_back(*axis.indices, axis.extent, use);
    }
    bool are_known() const {
        return std::ranges::all_of(checks_, [](const auto &check) { return check.is_known(); });
    }
    /// `outside`: the first axis with an index out of bounds, or -1. Returns it.
    int passed(int outside) const {
        if (outside < 0)
            for (const detail::IndexCheck &check : checks_)
                check.pass();
        return outside;
    }

  private:
    std::vector<detail::IndexCheck> checks_;
};

/// The first axis with an index out of bounds, or -1.
int run(std::span<const IndexedAxis> axes, const Indexing &indexing, const Ends &ends,
        StreamRef stream) {
    const Array &indices = *axes[0].indices;
    if (indices.size() == 0)
        return -1;
    Work use(stream);
    const AxisChecks checks(axes, use);
    if (checks.are_known()) {
        launch(axes, indexing, ends, 0, use);
        return -1;
    }
    ErrorFlags::Call outside(indices.context()->error_flags(), use,
                             [&] { return failures_of(axes); });
    launch(axes, indexing, ends, outside.address(), use);
    return checks.passed(outside.wait(axes.size()));
}

/// Copies elements between `dense` and `base` in words.
Indexing indexing_of(Task task, const Array &dense, std::int64_t step, const Array &base,
                     std::span<const IndexedAxis> axes) {
    std::uint64_t places =
        dense.misalignment() | base.misalignment() | static_cast<std::uint64_t>(step);
    for (const IndexedAxis &axis : axes)
        places |= static_cast<std::uint64_t>(axis.stride);
    Indexing indexing{.task = task, .word = word_bytes(base.item_size(), places)};
    indexing.words = base.item_size() / indexing.word;
    return indexing;
}

void check_elements(const Array &dense, const Array &base, std::span<const IndexedAxis> axes) {
    check(axes);
    if (dense.dtype() != base.dtype())
        throw std::invalid_argument("elements of " + base.dtype().name() +
                                    " cannot be moved from or to " + dense.dtype().name());
    if (!std::ranges::equal(dense.shape(), axes[0].indices->shape()))
        throw std::invalid_argument("the elements to read or write must have "
                                    "the shape of the indices");
}

Array copy_of(const Array &array, StreamRef stream) {
    Array copy = Array::scratch(array.context(), array.shape(), array.dtype(), stream);
    assign(copy, array, Casting::No, stream);
    return copy;
}

/// All indices are read before the first element is written, even if they are elements of `base`.
int scatter_by_copied_indices(const Array &base, const Array &in, std::span<const IndexedAxis> axes,
                              StreamRef stream) {
    std::vector<Array> copies;
    copies.reserve(axes.size());
    std::vector<IndexedAxis> copied(axes.begin(), axes.end());
    for (IndexedAxis &axis : copied)
        axis.indices = &copies.emplace_back(copy_of(*axis.indices, stream));
    return scatter_indexed(base, in, copied, stream);
}

} // namespace

ElementOffsets element_offsets(std::span<const IndexedAxis> axes, StreamRef stream) {
    check(axes);
    const Array &first = *axes[0].indices;
    const std::shared_ptr<ArrayContext> &context = context_or_current(first);
    ElementOffsets result{
        Array::empty(context, first.shape(), ScalarType::Int64, Order::C, stream)};
    result.outside = run(axes, {.task = Task::Offsets}, {.dense = &result.offsets}, stream);
    return result;
}

int gather_indexed(const Array &out, const Array &base, std::span<const IndexedAxis> axes,
                   StreamRef stream) {
    check_elements(out, base, axes);
    if (!out.is_c_contiguous())
        throw std::invalid_argument(
            "the array that receives the indexed elements must be C-contiguous");
    const auto step = static_cast<std::int64_t>(out.item_size());
    return run(axes, indexing_of(Task::Gather, out, step, base, axes), {&out, step, &base}, stream);
}

int scatter_indexed(const Array &base, const Array &in, std::span<const IndexedAxis> axes,
                    StreamRef stream) {
    check_elements(in, base, axes);
    base.require_writable("the array to assign to");
    const bool is_one =
        std::ranges::all_of(in.layout().strides(), [](std::int64_t stride) { return stride == 0; });
    if ((!is_one && !in.is_c_contiguous()) || in.may_share_memory(base))
        return scatter_indexed(base, copy_of(in, stream), axes, stream);
    if (std::ranges::any_of(
            axes, [&](const IndexedAxis &axis) { return axis.indices->may_share_memory(base); }))
        return scatter_by_copied_indices(base, in, axes, stream);
    if (axes[0].indices->size() == 0)
        return -1;
    const std::int64_t step = is_one ? 0 : static_cast<std::int64_t>(in.item_size());
    Indexing indexing = indexing_of(Task::Scatter, in, step, base, axes);
    indexing.is_small = axes[0].indices->size() <= small;
    if (indexing.is_small)
        return run(axes, indexing, {&in, step, &base}, stream);
    Work use(stream);
    const AxisChecks checks(axes, use);
    if (checks.are_known()) {
        launch(axes, indexing, {&in, step, &base}, 0, use);
        return -1;
    }
    // The second kernel is queued before the result of the check is known to the host.
    const std::int64_t one[] = {1};
    const Array failed = Array::scratch(base.context(), one, ScalarType::Int32, stream);
    ErrorFlags::Call outside(base.context()->error_flags(), use, [&] { return failures_of(axes); });
    fill_async<std::uint32_t>(use.write(failed), 0, 1, use.stream());
    launch(axes, {.task = Task::Check}, {.dense = &failed}, outside.address(), use);
    outside.mark_last_use(); // the host need not wait for the second kernel
    launch(axes, indexing, {&in, step, &base}, use.write(failed), use);
    return checks.passed(outside.wait(axes.size()));
}

} // namespace pycuda
