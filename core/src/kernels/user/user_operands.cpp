// user_operands.cpp -- distinguishes flat arrays from strided arrays, and merges axes.
#include "kernels/user/user_operands.h"

#include "arrays/array_axes.h"

#include <algorithm>
#include <stdexcept>

namespace pycuda {
namespace {

/// Whether the strides in elements are equal for all axes longer than 1.
bool same_layout(const Array &a, const Array &b) noexcept {
    const auto a_size = static_cast<std::int64_t>(a.item_size());
    const auto b_size = static_cast<std::int64_t>(b.item_size());
    for (int axis = 0; axis < a.dimensions(); ++axis)
        if (a.layout().extent(axis) > 1 &&
            a.layout().stride(axis) * b_size != b.layout().stride(axis) * a_size)
            return false;
    return true;
}

/// Whether all arrays can be accessed in the order of memory.
bool share_memory_order(std::span<const Array> arrays) {
    auto odd = std::ranges::find_if_not(arrays, &Array::is_c_contiguous);
    if (odd == arrays.end())
        return true;
    if (!odd->layout().is_dense(odd->item_size()))
        return false;
    return std::ranges::all_of(arrays, [&](const Array &array) {
        if (array.layout().same_shape(odd->layout()))
            return same_layout(array, *odd);
        return array.is_c_contiguous() && array.size() != odd->size();
    });
}

} // namespace

std::vector<Array> arrays_of(std::span<const ArrayView> views) {
    std::vector<Array> arrays;
    arrays.reserve(views.size());
    for (const ArrayView &view : views)
        arrays.emplace_back(nullptr, view.address, DType::opaque(view.item_size),
                            view.strides.empty() ? Layout::contiguous(view.shape, view.item_size)
                                                 : Layout(view.shape, view.strides));
    return arrays;
}

bool is_c_contiguous(const ArrayView &view) noexcept {
    if (view.strides.empty())
        return true;
    auto expected = static_cast<std::int64_t>(view.item_size);
    for (std::size_t axis = view.shape.size(); axis-- > 0;) {
        if (view.shape[axis] == 0)
            return true;
        if (view.shape[axis] != 1 && view.strides[axis] != expected)
            return view.size() == 0;
        expected *= view.shape[axis];
    }
    return true;
}

std::unique_ptr<OperandForms> find_forms(std::span<const ArrayView> views) {
    if (std::ranges::all_of(views, is_c_contiguous)) [[likely]]
        return nullptr;
    const std::vector<Array> arrays = arrays_of(views);
    auto forms = std::make_unique<OperandForms>(arrays);
    return forms->all_flat() ? nullptr : std::move(forms);
}

void check_array_sizes(const char *kind, const std::string &name,
                       const std::vector<KernelArgument> &declared,
                       const std::vector<bool> &at_i_only, std::span<const ArrayView> arrays,
                       const NeededElements &needed) {
    const auto refuse = [&](const std::string &why) {
        throw std::invalid_argument(kind + (" '" + name) + "'" + why);
    };
    if (arrays.size() != at_i_only.size())
        refuse(" takes " + std::to_string(at_i_only.size()) + " arrays, got " +
               std::to_string(arrays.size()));
    const auto [first, end] = needed.by_range.value_or(
        std::pair(std::int64_t{0}, static_cast<std::int64_t>(arrays.front().size())));
    const std::uint64_t least = needed.may_skip || end < 0 ? 0 : static_cast<std::uint64_t>(end);
    std::size_t array = 0;
    for (const KernelArgument &argument : declared) {
        if (!argument.is_vector())
            continue;
        const ArrayView &view = arrays[array];
        if (at_i_only[array] && view.size() < least) [[unlikely]]
            refuse(": array '" + argument.name + "' has " + std::to_string(view.size()) +
                   " elements, but the " + (needed.by_range ? "range needs " : "first array has ") +
                   std::to_string(least));
        if (at_i_only[array] && first < 0 && !needed.may_skip) [[unlikely]]
            refuse(": array '" + argument.name + "' has no element " + std::to_string(first) +
                   ", which the range needs");
        if (argument.size != 0 && view.item_size != argument.size && !is_c_contiguous(view))
            [[unlikely]]
            refuse(": array '" + argument.name + "' has elements of " +
                   std::to_string(view.item_size) + " bytes, but " + argument.type + " has " +
                   std::to_string(argument.size));
        ++array;
    }
}

bool all_aligned(std::span<const ArrayView> arrays, std::size_t bytes) noexcept {
    return std::ranges::all_of(arrays,
                               [&](const ArrayView &view) { return view.address % bytes == 0; });
}

OperandForms::OperandForms(std::span<const Array> arrays) {
    if (share_memory_order(arrays)) [[likely]]
        return;
    group_of_.assign(arrays.size(), 0);
    for (std::size_t array = 0; array < arrays.size(); ++array)
        if (!arrays[array].is_c_contiguous())
            add_to_group(arrays, array);
    for (StridedGroup &group : groups_) {
        coalesce_to_axes(group.layouts);
    }
}

void OperandForms::add_to_group(std::span<const Array> arrays, std::size_t array) {
    const Layout &layout = arrays[array].layout();
    auto group = std::ranges::find_if(groups_, [&](const StridedGroup &other) {
        return arrays[other.members.front()].layout().same_shape(layout);
    });
    if (group == groups_.end()) {
        groups_.emplace_back();
        group = groups_.end() - 1;
        group->layouts.reserve(arrays.size()); // so that the large elements are not moved
    }
    group->members.push_back(array);
    group->layouts.push_back(layout);
    group_of_[array] = static_cast<std::size_t>(group - groups_.begin()) + 1;
}

const StridedGroup *OperandForms::group_of(std::size_t array) const noexcept {
    if (group_of_.empty() || group_of_[array] == 0)
        return nullptr;
    return &groups_[group_of_[array] - 1];
}

std::string OperandForms::key() const {
    std::string key;
    for (std::size_t group : group_of_)
        key += static_cast<char>(group);
    for (const StridedGroup &group : groups_)
        key += static_cast<char>(group.layouts[0].dimensions());
    return key;
}

void OperandForms::push_array(ArgumentBlock &block, const ArrayView &view,
                              std::size_t array) const {
    const StridedGroup *group = group_of(array);
    if (group == nullptr)
        return block.push_pointer(view.address);
    // As pycuda::StridedArgument of strided.cuh.
    const auto member = std::ranges::find(group->members, array) - group->members.begin();
    const auto strides = group->layouts[static_cast<std::size_t>(member)].strides();
    std::vector<std::int64_t> argument = {static_cast<std::int64_t>(view.address)};
    argument.insert(argument.end(), strides.begin(), strides.end());
    if (!block.try_push(argument.data(), argument.size() * sizeof(std::int64_t), ValueKind::Bytes))
        throw std::logic_error("the kernel does not take the strided array that it was made for");
}

void OperandForms::push_extents(ArgumentBlock &block) const {
    for (const StridedGroup &group : groups_) {
        const auto extents = group.layouts[0].shape();
        if (!block.try_push(extents.data(), extents.size_bytes(), ValueKind::Bytes))
            throw std::logic_error("the kernel does not take the extents that it was made for");
    }
}

} // namespace pycuda
