// layout.cpp -- contiguity, views, and merging of axes.
#include <pycuda/layout.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace pycuda {

Layout::Layout(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
    if (shape.size() != strides.size())
        throw std::invalid_argument("strides must have one entry for each of the " +
                                    std::to_string(shape.size()) + " axes, not " +
                                    std::to_string(strides.size()));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        append(shape[axis], strides[axis]);
}

void Layout::append(std::int64_t extent, std::int64_t stride) {
    if (dimensions_ == max_dimensions)
        throw std::invalid_argument("an array has at most " + std::to_string(max_dimensions) +
                                    " dimensions");
    if (extent < 0)
        throw std::invalid_argument("negative dimensions are not allowed: " +
                                    std::to_string(extent));
    set(dimensions_++, extent, stride);
}

Layout Layout::contiguous(std::span<const std::int64_t> shape, std::size_t item_size, Order order) {
    Layout layout;
    for (std::int64_t extent : shape)
        layout.append(extent, 0);
    std::int64_t stride = static_cast<std::int64_t>(item_size);
    for (int i = 0; i < layout.dimensions_; ++i) {
        const int axis = order == Order::Fortran ? i : layout.dimensions_ - 1 - i;
        layout.strides_[axis] = stride;
        // An axis of length 0 counts as length 1 for the strides of the other axes.
        if (__builtin_mul_overflow(stride, std::max<std::int64_t>(layout.shape_[axis], 1), &stride))
            throw std::invalid_argument("an array of shape " + shape_text(shape) + " is too big");
    }
    return layout;
}

std::size_t Layout::size() const noexcept {
    std::size_t size = 1;
    for (int axis = 0; axis < dimensions_; ++axis)
        size *= static_cast<std::size_t>(shape_[axis]);
    return size;
}

void Layout::require_countable(std::size_t item_size) const {
    std::int64_t count = 1, span = static_cast<std::int64_t>(item_size);
    bool overflows = false, empty = false;
    for (int axis = 0; axis < dimensions_; ++axis) {
        std::int64_t step = 0;
        empty |= shape_[axis] == 0;
        overflows |= strides_[axis] == INT64_MIN ||
                     __builtin_mul_overflow(count, shape_[axis], &count) ||
                     __builtin_mul_overflow(shape_[axis] - 1, std::abs(strides_[axis]), &step) ||
                     __builtin_add_overflow(span, step, &span);
    }
    if (overflows && !empty)
        throw std::invalid_argument("an array of shape " + shape_text(shape()) + " and strides " +
                                    shape_text(strides()) + " is too big");
}

namespace {

/// Whether there are no gaps. `fastest` is the first axis, `step` (1 or -1) leads to the next
/// slower one.
inline bool is_contiguous(const Layout &layout, std::size_t item_size, int fastest,
                          int step) noexcept {
    std::int64_t expected = static_cast<std::int64_t>(item_size);
    bool contiguous = true;
    for (int axis = fastest; axis >= 0 && axis < layout.dimensions(); axis += step) {
        if (layout.extent(axis) == 0)
            return true;
        if (layout.extent(axis) != 1 && layout.stride(axis) != expected)
            contiguous = false;
        expected *= layout.extent(axis);
    }
    return contiguous;
}

} // namespace

bool Layout::is_c_contiguous(std::size_t item_size) const noexcept {
    return is_contiguous(*this, item_size, dimensions_ - 1, -1);
}

bool Layout::is_f_contiguous(std::size_t item_size) const noexcept {
    return is_contiguous(*this, item_size, 0, 1);
}

Layout Layout::dense(std::size_t item_size) const noexcept {
    const std::array<int, max_dimensions> axes = axes_in_memory_order();
    Layout result = *this;
    std::int64_t stride = static_cast<std::int64_t>(item_size);
    for (int i = dimensions_ - 1; i >= 0; --i) {
        result.strides_[axes[i]] = stride;
        stride *= std::max<std::int64_t>(shape_[axes[i]], 1);
    }
    return result;
}

bool Layout::is_dense(std::size_t item_size) const noexcept {
    const Layout wanted = dense(item_size);
    for (int axis = 0; axis < dimensions_; ++axis)
        if (shape_[axis] == 0)
            return true;
        else if (shape_[axis] != 1 && strides_[axis] != wanted.strides_[axis])
            return false;
    return true;
}

Layout Layout::transposed(std::span<const int> axes) const {
    Layout result;
    for (int axis : axes)
        result.append(shape_[axis], strides_[axis]);
    return result;
}

// Old and new axes are matched in groups with equal numbers of elements. The old axes of a group
// must be contiguous as one axis, which is then split into the new axes.
//
//     (2, 3, 4) -> (6, 2, 2):   [2, 3 -> 6]  [4 -> 2, 2]
bool Layout::try_reshape(std::span<const std::int64_t> shape, Order order, std::size_t item_size,
                         Layout &result) const {
    result = contiguous(shape, item_size, order);
    if (size() == 0)
        return true;
    Layout old; // without axes of length 1
    for (int axis = 0; axis < dimensions_; ++axis)
        if (shape_[axis] != 1)
            old.append(shape_[axis], strides_[axis]);
    const int new_count = static_cast<int>(shape.size());
    int old_begin = 0, new_begin = 0;
    while (old_begin < old.dimensions_ && new_begin < new_count) {
        int old_end = old_begin + 1, new_end = new_begin + 1;
        std::int64_t old_size = old.shape_[old_begin], new_size = shape[new_begin];
        while (old_size != new_size) {
            if (new_size < old_size)
                new_size *= shape[new_end++];
            else
                old_size *= old.shape_[old_end++];
        }
        for (int axis = old_begin; axis + 1 < old_end; ++axis) {
            const int outer = order == Order::Fortran ? axis + 1 : axis;
            const int inner = order == Order::Fortran ? axis : axis + 1;
            if (old.strides_[outer] != old.shape_[inner] * old.strides_[inner])
                return false;
        }
        if (order == Order::Fortran) {
            std::int64_t stride = old.strides_[old_begin];
            for (int axis = new_begin; axis < new_end; ++axis) {
                result.strides_[axis] = stride;
                stride *= shape[axis];
            }
        } else {
            std::int64_t stride = old.strides_[old_end - 1];
            for (int axis = new_end - 1; axis >= new_begin; --axis) {
                result.strides_[axis] = stride;
                stride *= shape[axis];
            }
        }
        old_begin = old_end;
        new_begin = new_end;
    }
    return true;
}

Layout Layout::broadcast_to(std::span<const std::int64_t> shape) const {
    const int added = static_cast<int>(shape.size()) - dimensions_;
    auto refuse = [&] {
        throw std::invalid_argument("an array of shape " + shape_text(this->shape()) +
                                    " cannot be broadcast to shape " + shape_text(shape));
    };
    if (added < 0)
        refuse();
    Layout result;
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
        const int own = axis - added;
        if (own >= 0 && shape_[own] == shape[axis])
            result.append(shape[axis], strides_[own]);
        else if (own < 0 || shape_[own] == 1)
            result.append(shape[axis], 0);
        else
            refuse();
    }
    result.require_countable(1);
    return result;
}

Layout Layout::assigned_to(std::span<const std::int64_t> shape) const {
    const int wanted = static_cast<int>(shape.size());
    int first = 0;
    while (dimensions_ - first > wanted && shape_[first] == 1)
        ++first;
    return Layout(this->shape().subspan(first), strides().subspan(first)).broadcast_to(shape);
}

std::array<int, Layout::max_dimensions> Layout::axes_in_memory_order() const noexcept {
    std::array<int, max_dimensions> axes{};
    for (int axis = 0; axis < dimensions_; ++axis)
        axes[axis] = axis;
    std::stable_sort(axes.begin(), axes.begin() + dimensions_,
                     [&](int a, int b) { return std::abs(strides_[a]) > std::abs(strides_[b]); });
    return axes;
}

Layout::ByteRange Layout::byte_range(std::size_t item_size) const noexcept {
    if (size() == 0)
        return {};
    ByteRange range{0, static_cast<std::int64_t>(item_size)};
    for (int axis = 0; axis < dimensions_; ++axis) {
        const std::int64_t step = (shape_[axis] - 1) * strides_[axis];
        (step < 0 ? range.begin : range.end) += step;
    }
    return range;
}

Layout broadcast_shapes(const Layout &a, const Layout &b) {
    const int dimensions = std::max(a.dimensions(), b.dimensions());
    Layout result;
    for (int axis = 0; axis < dimensions; ++axis) {
        const int a_axis = axis - (dimensions - a.dimensions());
        const int b_axis = axis - (dimensions - b.dimensions());
        const std::int64_t a_extent = a_axis < 0 ? 1 : a.extent(a_axis);
        const std::int64_t b_extent = b_axis < 0 ? 1 : b.extent(b_axis);
        if (a_extent != b_extent && a_extent != 1 && b_extent != 1)
            throw std::invalid_argument("operands could not be broadcast together with shapes " +
                                        shape_text(a.shape()) + " " + shape_text(b.shape()));
        result.append(a_extent == 1 ? b_extent : a_extent, 0);
    }
    return result;
}

void coalesce(std::span<Layout> layouts) noexcept {
    const Layout first = layouts[0];
    std::array<bool, Layout::max_dimensions>
        joins{}; // whether it can be merged with the axis before it in every layout
    int previous = -1;
    for (int axis = 0; axis < first.dimensions(); ++axis) {
        if (first.extent(axis) == 1)
            continue;
        joins[static_cast<std::size_t>(axis)] =
            previous >= 0 && std::ranges::all_of(layouts, [&](const Layout &layout) {
                return layout.stride(previous) == first.extent(axis) * layout.stride(axis);
            });
        previous = axis;
    }
    for (Layout &layout : layouts) {
        Layout merged;
        for (int axis = 0; axis < first.dimensions(); ++axis) {
            const std::int64_t extent = first.extent(axis);
            const int last = merged.dimensions() - 1;
            if (extent == 1)
                continue;
            if (joins[static_cast<std::size_t>(axis)])
                merged.set(last, merged.extent(last) * extent, layout.stride(axis));
            else
                merged.append(extent, layout.stride(axis));
        }
        layout = merged;
    }
}

void sort_axes(std::span<Layout> layouts, std::span<std::int64_t> offsets) noexcept {
    const std::array<int, Layout::max_dimensions> axes = layouts[0].axes_in_memory_order();
    const int dimensions = layouts[0].dimensions();
    const Layout first = layouts[0];
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        const Layout old = layouts[i];
        for (int axis = 0; axis < dimensions; ++axis) {
            const std::int64_t extent = old.extent(axes[axis]);
            std::int64_t stride = old.stride(axes[axis]);
            if (first.stride(axes[axis]) < 0 && extent > 0) {
                offsets[i] += (extent - 1) * stride;
                stride = -stride;
            }
            layouts[i].set(axis, extent, stride);
        }
    }
}

std::string shape_text(std::span<const std::int64_t> shape) {
    std::string text = "(";
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        text += (axis ? ", " : "") + std::to_string(shape[axis]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace pycuda
