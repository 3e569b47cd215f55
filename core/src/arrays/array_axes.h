// array_axes.h -- the axes of a kernel's arrays: broadcast, merged, divided into kept and reduced.
#pragma once

#include <pycuda/array.h>
#include <pycuda/array_operation.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>

namespace pycuda {

/// The shape to which the inputs are broadcast. Throws if they cannot be. `inputs` is not empty.
inline Layout common_shape(std::span<const Array *const> inputs) {
    Layout shape = inputs[0]->layout();
    for (const Array *input : inputs.subspan(1))
        shape = broadcast_shapes(shape, input->layout());
    return shape;
}

/// As coalesce(), but elements without axes keep one of length 1.
inline void coalesce_to_axes(std::span<Layout> layouts) noexcept {
    coalesce(layouts);
    if (layouts[0].dimensions() == 0)
        for (Layout &layout : layouts)
            layout.append(1, 0);
}

/// The array's context, or the current one if it never had memory.
inline const std::shared_ptr<ArrayContext> &context_or_current(const Array &array) {
    return array.memory() ? array.context() : ArrayContext::current();
}

/// The array itself if it is C-contiguous and aligned, else a contiguous copy that is made in
/// `stream`: for kernels that do not support strides.
[[nodiscard]] inline Array compact(const Array &array, StreamRef stream) {
    if (array.is_c_contiguous() && array.is_aligned())
        return array;
    Array copy = Array::scratch(array.context(), array.shape(), array.dtype(), stream);
    assign(copy, array, Casting::No, stream);
    return copy;
}

/// Appends the axes of a layout whose bits are set in `axes` to `reduced`, the others to `kept`.
inline void split_axes(const Layout &layout, std::uint32_t axes, Layout &kept, Layout &reduced) {
    for (int axis = 0; axis < layout.dimensions(); ++axis)
        (axes >> axis & 1 ? reduced : kept).append(layout.extent(axis), layout.stride(axis));
}

/// The layout of results for `kept` axes, in their memory order. With `keep_axes`, each reduced one
/// of the `dimensions` axes has the extent 1; otherwise, it is left out.
inline Layout layout_of_results(const Layout &kept, std::uint32_t axes, int dimensions,
                                bool keep_axes, std::size_t item_size) {
    const Layout dense = kept.dense(item_size);
    Layout layout;
    int next = 0;
    for (int axis = 0; axis < dimensions; ++axis) {
        if (!(axes >> axis & 1)) {
            layout.append(dense.extent(next), dense.stride(next));
            ++next;
        } else if (keep_axes) {
            layout.append(1, static_cast<std::int64_t>(item_size));
        }
    }
    return layout;
}

/// The smallest distance in bytes between neighbours along an axis of more than one element; the
/// largest number if there is no such axis. Axes that repeat one element do not count.
inline std::int64_t smallest_step(const Layout &layout) {
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    for (int axis = 0; axis < layout.dimensions(); ++axis)
        if (layout.extent(axis) > 1 && layout.stride(axis) != 0)
            smallest = std::min(smallest, std::abs(layout.stride(axis)));
    return smallest;
}

} // namespace pycuda
