// array_views.cpp -- the functions of arrays whose results are views: parts, orders of axes,
// shapes.
//
// A view is a layout and the offset of its first element. Each function of this file reads its
// arguments, computes one or more of these from the layout of its array, and view_of() makes the
// arrays. Elements are not moved, and nothing runs on the device.
//
//     moveaxis(x, 0, -1):   shape (2, 3, 4), strides (48, 16, 4)  ->  (3, 4, 2), (16, 4, 48), +0
//     flip(x):              shape (5,), strides (4,)              ->  (5,), (-4,), +16
#include "arrays/array_axes.h"
#include "arrays/array_object.h"
#include "support/bindings.h"
#include "support/python_object.h"

#include <pycuda/array_index.h>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace pycuda::python {
namespace {

using View = LayoutPart;

nb::object array_with(nb::handle array, const View &view) {
    return view_of(array, view.layout, view.offset);
}

const Layout &layout_of(nb::handle array) { return array_of(array).layout(); }

/// A function of a layout as one of an array: for nanobind.
template <class... Args> auto of_array(View (*function)(const Layout &layout, Args...)) {
    return [function](nb::handle a, Args... args) {
        const nb::object array = as_array(a);
        return array_with(array, function(layout_of(array), args...));
    };
}

// Orders of axes

View exchanged(const Layout &layout, int first, int second) {
    View view{layout};
    view.layout.set(first, layout.extent(second), layout.stride(second));
    view.layout.set(second, layout.extent(first), layout.stride(first));
    return view;
}

View reversed_axes(const Layout &layout) {
    View view;
    for (int axis = layout.dimensions() - 1; axis >= 0; --axis)
        view.layout.append(layout.extent(axis), layout.stride(axis));
    return view;
}

View transpose(const Layout &layout, nb::handle axes) {
    if (axes.is_none())
        return reversed_axes(layout);
    const AxisList order = axis_numbers(axes, layout.dimensions());
    if (static_cast<int>(order.size()) != layout.dimensions())
        throw_value_error("axes " + nb::cast<std::string>(nb::repr(axes)) +
                          " do not match an array of " + std::to_string(layout.dimensions()) +
                          " axes");
    return {layout.transposed(order.all())};
}

View swapaxes(const Layout &layout, nb::handle axis1, nb::handle axis2) {
    const int first = axis_number(axis1, layout.dimensions());
    return exchanged(layout, first, axis_number(axis2, layout.dimensions()));
}

View matrix_transpose(const Layout &layout) {
    const int axes = layout.dimensions();
    if (axes < 2)
        throw_value_error("a matrix has at least two axes, this array has " + std::to_string(axes));
    return exchanged(layout, axes - 2, axes - 1);
}

View moved(const Layout &layout, const AxisList &from, const AxisList &to) {
    std::array<int, Layout::max_dimensions> order;
    order.fill(-1);
    for (std::size_t i = 0; i < to.size(); ++i)
        order[static_cast<std::size_t>(to[i])] = from[i];
    int rest = 0;
    View view;
    for (int place = 0; place < layout.dimensions(); ++place) {
        int axis = order[static_cast<std::size_t>(place)];
        if (axis < 0) {
            while (from.has(rest))
                ++rest;
            axis = rest++;
        }
        view.layout.append(layout.extent(axis), layout.stride(axis));
    }
    return view;
}

View moveaxis(const Layout &layout, nb::handle source, nb::handle destination) {
    const AxisList from = axis_numbers(source, layout.dimensions());
    const AxisList to = axis_numbers(destination, layout.dimensions());
    if (from.size() != to.size())
        throw_value_error("source has " + std::to_string(from.size()) + " axes, destination has " +
                          std::to_string(to.size()));
    return moved(layout, from, to);
}

View rollaxis(const Layout &layout, nb::handle axis, nb::handle start) {
    AxisList from, to;
    from.append(axis_number(axis, layout.dimensions()));
    // The end of the axes is a place, too.
    const bool at_end = nb::cast<std::int64_t>(made(PyNumber_Index(start.ptr()))) ==
                        static_cast<std::int64_t>(layout.dimensions());
    const int place = at_end ? layout.dimensions() : axis_number(start, layout.dimensions());
    to.append(from[0] < place ? place - 1 : place);
    return moved(layout, from, to);
}

// Axes of extent 1

View squeeze(const Layout &layout, nb::handle axis) {
    AxisList gone;
    if (axis.is_none()) {
        for (int i = 0; i < layout.dimensions(); ++i)
            if (layout.extent(i) == 1)
                gone.append(i);
    } else if (layout.dimensions() > 0 || PyTuple_Check(axis.ptr())) {
        gone = axis_numbers(axis, layout.dimensions());
    } else {
        static_cast<void>(axis_number(axis, 1)); // as NumPy, 0 and -1 of an array without axes
    }
    View view;
    for (int i = 0; i < layout.dimensions(); ++i) {
        if (!gone.has(i))
            view.layout.append(layout.extent(i), layout.stride(i));
        else if (layout.extent(i) != 1)
            throw_value_error(
                "cannot select an axis to squeeze out which has size not equal to one");
    }
    return view;
}

View expand_dims(const Layout &layout, nb::handle axis) {
    const Py_ssize_t added = is_one_number(axis) ? 1 : PyObject_Size(axis.ptr());
    if (added < 0)
        throw nb::python_error();
    const int all = layout.dimensions() + static_cast<int>(std::min<Py_ssize_t>(added, 1 << 10));
    const AxisList places = axis_numbers(axis, all);
    View view;
    for (int place = 0, own = 0; place < all; ++place) {
        const bool is_new = places.has(place);
        view.layout.append(is_new ? 1 : layout.extent(own), is_new ? 0 : layout.stride(own));
        own += is_new ? 0 : 1;
    }
    return view;
}

nb::object widened(nb::handle array, int least) {
    const Layout &layout = layout_of(array);
    if (layout.dimensions() >= least)
        return nb::borrow(array);
    return array_with(array, {with_axes(layout, least)});
}

/// One array, or a tuple if there are several.
nb::object at_least(int axes, const nb::tuple &arrays) {
    if (arrays.size() == 1)
        return widened(as_array(arrays[0]), axes);
    nb::list results;
    for (nb::handle array : arrays)
        results.append(widened(as_array(array), axes));
    return nb::tuple(results);
}

// Broadcasts

nb::object broadcast(nb::handle array, const Layout &shape) {
    nb::object view = array_with(array, {layout_of(array).broadcast_to(shape.shape())});
    array_of(view).set_writable(false); // several elements are one in memory
    return view;
}

nb::object broadcast_to(nb::handle array, nb::handle shape) {
    return broadcast(as_array(array), shape_argument(shape));
}

nb::tuple broadcast_arrays(const nb::tuple &arrays) {
    nb::list results;
    Layout common;
    for (nb::handle one : arrays) {
        nb::object array = as_array(one);
        common = broadcast_shapes(common, layout_of(array));
        results.append(std::move(array));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        const nb::object array = results[i];
        if (!layout_of(array).same_shape(common))
            results[i] = broadcast(array, common);
    }
    return nb::tuple(results);
}

// Parts

View diagonal(const Layout &layout, nb::handle offset, nb::handle axis1, nb::handle axis2) {
    const int axes = layout.dimensions();
    if (axes < 2)
        throw_value_error("diag requires an array of at least two dimensions");
    const int first = axis_number(axis1, axes), second = axis_number(axis2, axes);
    if (first == second)
        throw_value_error("axis1 and axis2 cannot be the same");
    const std::int64_t place = integer(offset);
    const std::int64_t rows = layout.extent(first), columns = layout.extent(second);
    const std::int64_t row = std::clamp<std::int64_t>(place, -rows, 0) * -1;
    const std::int64_t column = std::clamp<std::int64_t>(place, 0, columns);
    const std::int64_t length = std::min(rows - row, columns - column);
    View view;
    if (length > 0)
        view.offset = row * layout.stride(first) + column * layout.stride(second);
    for (int axis = 0; axis < axes; ++axis)
        if (axis != first && axis != second)
            view.layout.append(layout.extent(axis), layout.stride(axis));
    view.layout.append(length, layout.stride(first) + layout.stride(second));
    return view;
}

View flipped(const Layout &layout, const AxisList &axes) {
    View view{layout};
    for (const int axis : axes.all()) {
        view.layout.set(axis, layout.extent(axis), -layout.stride(axis));
        view.offset += (layout.extent(axis) - 1) * layout.stride(axis);
    }
    if (layout.size() == 0)
        view.offset = 0;
    return view;
}

View flip(const Layout &layout, nb::handle axis) {
    return flipped(layout, axis_numbers(axis, layout.dimensions()));
}

View rot90(const Layout &layout, nb::handle k, nb::handle axes) {
    const AxisList plane = axis_numbers(axes, layout.dimensions());
    if (plane.size() != 2)
        throw_value_error("axes must be two, not " + std::to_string(plane.size()));
    const std::int64_t turns = ((integer(k) % 4) + 4) % 4;
    AxisList reversed;
    if (turns == 2 || turns == 3)
        reversed.append(plane[0]);
    if (turns == 1 || turns == 2)
        reversed.append(plane[1]);
    View view = flipped(layout, reversed);
    if (turns == 1 || turns == 3)
        view.layout = exchanged(view.layout, plane[0], plane[1]).layout;
    return view;
}

/// The places at which the parts of an axis end, without the last end.
std::vector<std::int64_t> ends_of_parts(nb::handle indices_or_sections, std::int64_t extent,
                                        bool equal) {
    std::vector<std::int64_t> ends;
    if (!is_one_number(indices_or_sections)) {
        for (nb::handle end :
             nb::borrow<nb::list>(made(PySequence_List(indices_or_sections.ptr()))))
            ends.push_back(integer(end));
        return ends;
    }
    const std::int64_t parts = integer(indices_or_sections);
    if (parts <= 0)
        throw_value_error("the number of parts must be positive, not " + std::to_string(parts));
    const std::int64_t each = extent / parts, longer = extent % parts;
    if (equal && longer != 0)
        throw_value_error("an axis of length " + std::to_string(extent) +
                          " cannot be divided into " + std::to_string(parts) + " equal parts");
    for (std::int64_t part = 1; part < parts; ++part)
        ends.push_back(part * each + std::min(part, longer));
    return ends;
}

nb::list split(nb::handle a, nb::handle indices_or_sections, nb::handle along, bool equal) {
    const nb::object array = as_array(a);
    const Layout &layout = layout_of(array);
    const auto axis = static_cast<std::size_t>(axis_number(along, layout.dimensions()));
    const std::int64_t extent = layout.extent(static_cast<int>(axis));
    std::array<Index, Layout::max_dimensions> indices;
    std::fill_n(indices.begin(), axis, Index::slice());
    nb::list parts;
    std::int64_t start = 0;
    auto append = [&](std::int64_t stop) {
        indices[axis] = Index::slice(start, stop);
        parts.append(array_with(array, part(layout, std::span(indices.data(), axis + 1))));
        start = stop;
    };
    for (const std::int64_t end : ends_of_parts(indices_or_sections, extent, equal))
        append(end);
    append(extent);
    return parts;
}

/// A tuple of views, which lack the axis.
nb::tuple unstack(nb::handle x, nb::handle along) {
    const nb::object array = as_array(x);
    const Layout &layout = layout_of(array);
    if (layout.dimensions() == 0)
        throw_value_error("unstack() expects an array of at least one axis");
    const int axis = axis_number(along, layout.dimensions());
    View view;
    for (int i = 0; i < layout.dimensions(); ++i)
        if (i != axis)
            view.layout.append(layout.extent(i), layout.stride(i));
    const std::int64_t step = view.layout.size() == 0 ? 0 : layout.stride(axis);
    nb::list parts;
    for (std::int64_t place = 0; place < layout.extent(axis); ++place, view.offset += step)
        parts.append(array_with(array, view));
    return nb::tuple(parts);
}

nb::object windows(nb::handle x, nb::handle window_shape, nb::handle axis, bool writeable) {
    const nb::object array = as_array(x);
    const Layout &layout = layout_of(array);
    const Layout window = shape_argument(window_shape);
    const AxisList axes = axis_numbers(axis, layout.dimensions(), Repeated::Allowed);
    if (static_cast<int>(axes.size()) != window.dimensions())
        throw_value_error("window_shape has " + std::to_string(window.dimensions()) +
                          " extents for " + std::to_string(axes.size()) + " axes");
    View view{layout};
    for (int i = 0; i < window.dimensions(); ++i) {
        const int own = axes[static_cast<std::size_t>(i)];
        const std::int64_t extent = window.extent(i), left = view.layout.extent(own) - extent + 1;
        if (extent > view.layout.extent(own))
            throw_value_error("window shape cannot be larger than input array shape");
        view.layout.set(own, left, layout.stride(own));
        view.layout.append(extent, layout.stride(own));
    }
    nb::object result = array_with(array, view);
    array_of(result).set_writable(writeable && array_of(array).is_writable());
    return result;
}

// Shapes

/// A view with another shape; the array itself if it has the shape. None if elements would have to
/// be copied.
nb::object reshape(nb::handle array, nb::handle shape, const std::string &order) {
    const Array &own = require_array(array, "self");
    const Order by = order_named(order);
    const Layout wanted = complete_shape(shape, own.size());
    if (own.layout().same_shape(wanted))
        return nb::borrow(array);
    View view;
    if (!own.layout().try_reshape(wanted.shape(), by, own.item_size(), view.layout))
        return nb::none();
    return array_with(array, view);
}

} // namespace

void bind_array_views(nb::module_ &module) {
    module.def("_axis_number", axis_number, nb::arg("axis").none(), nb::arg("ndim"));
    module.def(
        "_axis_numbers",
        [](nb::handle axes, int dimensions) {
            nb::list numbers;
            for (const int axis : axis_numbers(axes, dimensions).all())
                numbers.append(axis);
            return nb::tuple(numbers);
        },
        nb::arg("axes").none(), nb::arg("ndim"));
    module.def(
        "_complete_shape",
        [](nb::handle shape, std::size_t size) {
            return tuple_of(complete_shape(shape, size).shape());
        },
        nb::arg("shape"), nb::arg("size"));
    const auto a = nb::arg("a").none();
    module.def("_transpose", of_array(transpose), a, nb::arg("axes").none());
    module.def("_swapaxes", of_array(swapaxes), a, nb::arg("axis1").none(),
               nb::arg("axis2").none());
    module.def("_matrix_transpose", of_array(matrix_transpose), a);
    module.def("_moveaxis", of_array(moveaxis), a, nb::arg("source"), nb::arg("destination"));
    module.def("_rollaxis", of_array(rollaxis), a, nb::arg("axis").none(), nb::arg("start").none());
    module.def("_squeeze", of_array(squeeze), a, nb::arg("axis").none());
    module.def("_expand_dims", of_array(expand_dims), a, nb::arg("axis"));
    module.def("_at_least", at_least, nb::arg("axes"), nb::arg("arrays"));
    module.def("_broadcast_to", broadcast_to, a, nb::arg("shape"));
    module.def("_broadcast_arrays", broadcast_arrays, nb::arg("arrays"));
    module.def("_diagonal", of_array(diagonal), a, nb::arg("offset").none(),
               nb::arg("axis1").none(), nb::arg("axis2").none());
    module.def("_flip", of_array(flip), a, nb::arg("axis").none());
    module.def("_rot90", of_array(rot90), a, nb::arg("k").none(), nb::arg("axes"));
    module.def("_split", split, a, nb::arg("indices_or_sections"), nb::arg("axis").none(),
               nb::arg("equal"));
    module.def("_unstack", unstack, a, nb::arg("axis").none());
    module.def("_windows", windows, a, nb::arg("window_shape"), nb::arg("axis").none(),
               nb::arg("writeable"));
    module.def("_reshape", reshape, nb::arg("self"), nb::arg("shape"), nb::arg("order"));
}

} // namespace pycuda::python
