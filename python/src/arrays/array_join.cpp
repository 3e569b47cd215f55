// array_join.cpp -- functions that copy several arrays, or parts of arrays, into new ones:
// concatenate(), stack() and their kin, meshgrid(), roll().
//
// The copies of a call are one piece of work (pycuda/array_parts.h), so that small arrays take the
// time of one launch.
#include "arrays/array_axes.h"
#include "arrays/array_object.h"
#include "arrays/array_scope.h"
#include "memory/work_scope.h"
#include "support/bindings.h"
#include "support/python_object.h"

#include <pycuda/array_index.h>
#include <pycuda/array_parts.h>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda::python {
namespace {

using Pieces = std::vector<nb::object>;

Pieces pieces_of(nb::handle arrays) {
    Pieces pieces;
    for (nb::handle one : nb::borrow<nb::list>(made(PySequence_List(arrays.ptr()))))
        pieces.push_back(as_array(one));
    return pieces;
}

nb::object dtype_object(nb::handle array) { return array.attr("dtype"); }

// Functions that join arrays along an axis

/// How a function views its arrays before it joins them.
struct Joining {
    std::string_view name;
    int least_axes; ///< views get at least so many
    int axis;       ///< along which arrays are joined
    enum class Axis { Given, New, Own } which;
};
constexpr int kOwnAxis = -1; // of a vector its only axis, else the second one

constexpr Joining kJoinings[] = {
    {"concatenate", 0, 0, Joining::Axis::Given}, {"stack", 0, 0, Joining::Axis::New},
    {"vstack", 2, 0, Joining::Axis::Own},        {"hstack", 1, kOwnAxis, Joining::Axis::Own},
    {"dstack", 3, 2, Joining::Axis::Own},        {"column_stack", 2, 1, Joining::Axis::Own},
};

const Joining &joining_named(const std::string &name) {
    const auto *found = std::ranges::find(kJoinings, name, &Joining::name);
    if (found == std::end(kJoinings))
        throw_value_error("there is no function " + name + "()");
    return *found;
}

/// What is joined, as views with the axes of the result.
struct JoinedViews {
    Pieces owners; ///< of the views' memory
    std::vector<Array> views;
    int axis = 0;
    Layout shape; ///< of the result
};

Layout with_new_axis(const Layout &layout, int axis) {
    Layout result;
    for (int i = 0; i <= layout.dimensions(); ++i) {
        if (i == axis)
            result.append(1, 0);
        if (i < layout.dimensions())
            result.append(layout.extent(i), layout.stride(i));
    }
    return result;
}

/// All elements along one axis, in C order.
Array flat(nb::object &owner) {
    const Array &array = array_of(owner);
    const std::int64_t extents[] = {static_cast<std::int64_t>(array.size())};
    Layout layout;
    if (array.layout().try_reshape(extents, Order::C, array.item_size(), layout))
        return array.view(layout);
    owner = owner.attr("_ravel")();
    return array_of(owner);
}

void check_shapes(const JoinedViews &joined, bool stacked) {
    const auto layout_of = [&](std::size_t number) -> const Layout & {
        return (stacked ? array_of(joined.owners[number]) : joined.views[number]).layout();
    };
    const Layout &first = layout_of(0);
    for (std::size_t number = 1; number < joined.views.size(); ++number) {
        const Layout &other = layout_of(number);
        bool fits = other.dimensions() == first.dimensions();
        for (int axis = 0; fits && axis < first.dimensions(); ++axis)
            fits = (axis == joined.axis && !stacked) || other.extent(axis) == first.extent(axis);
        if (fits)
            continue;
        const std::string along =
            stacked ? "" : " except along axis " + std::to_string(joined.axis);
        throw_value_error("all arrays must have the same shape" + along + ": array 0 has " +
                          shape_text(array_of(joined.owners[0]).shape()) + ", array " +
                          std::to_string(number) + " has " +
                          shape_text(array_of(joined.owners[number]).shape()));
    }
}

JoinedViews joined_views(const Joining &joining, nb::handle arrays, nb::handle axis) {
    JoinedViews joined;
    joined.owners = pieces_of(arrays);
    if (joined.owners.empty())
        throw_value_error("need at least one array to " + std::string(joining.name));
    const bool stacked = joining.which == Joining::Axis::New;
    const bool flattened = joining.which == Joining::Axis::Given && axis.is_none();
    const int axes = array_of(joined.owners[0]).dimensions();
    if (stacked)
        joined.axis = axis_number(axis, axes + 1);
    joined.views.reserve(joined.owners.size());
    for (nb::object &owner : joined.owners) {
        const Array &array = array_of(owner);
        if (flattened)
            joined.views.push_back(flat(owner));
        else if (stacked && array.dimensions() == axes)
            joined.views.push_back(array.view(with_new_axis(array.layout(), joined.axis)));
        else if (joining.name == "column_stack")
            joined.views.push_back(array.view(as_columns(array.layout())));
        else
            joined.views.push_back(array.view(with_axes(array.layout(), joining.least_axes)));
    }
    const int seen = joined.views[0].dimensions();
    if (seen == 0)
        throw_value_error("zero-dimensional arrays cannot be concatenated");
    if (joining.which == Joining::Axis::Given)
        joined.axis = flattened ? 0 : axis_number(axis, seen);
    else if (joining.which == Joining::Axis::Own)
        joined.axis = joining.axis == kOwnAxis ? (seen == 1 ? 0 : 1) : joining.axis;
    check_shapes(joined, stacked);
    std::int64_t total = 0;
    for (const Array &view : joined.views)
        total += view.layout().extent(joined.axis);
    joined.shape = joined.views[0].layout();
    joined.shape.set(joined.axis, total, 0);
    return joined;
}

nb::object common_dtype(const Pieces &pieces) {
    const DType first = array_of(pieces[0]).dtype();
    if (std::ranges::all_of(pieces,
                            [&](nb::handle piece) { return array_of(piece).dtype() == first; }))
        return dtype_object(pieces[0]);
    nb::list dtypes;
    for (nb::handle piece : pieces)
        dtypes.append(dtype_object(piece));
    return nb::module_::import_("numpy").attr("result_type")(*nb::tuple(dtypes));
}

nb::object new_result(const JoinedViews &joined, nb::handle dtype, nb::handle allocator) {
    const nb::object wanted = dtype.is_none() ? common_dtype(joined.owners) : exact_dtype(dtype);
    const DType type = dtype_of(wanted);
    const std::vector<nb::handle> owners(joined.owners.begin(), joined.owners.end());
    const nb::handle own =
        allocator.is_none() ? PythonAllocatorScope::inherited(owners) : allocator;
    return make_array(Layout::contiguous(joined.shape.shape(), type.item_size()), type, wanted,
                      array_class, {own, current_stream()});
}

void check_out(const JoinedViews &joined, nb::handle out, nb::handle dtype) {
    const Array &array = require_array(out, "out");
    if (!dtype.is_none())
        throw_type_error("concatenate() takes out or dtype, not both");
    if (!array.layout().same_shape(joined.shape))
        throw_value_error("out has the shape " + shape_text(array.shape()) + ", the result " +
                          shape_text(joined.shape.shape()));
}

void check_casts(const Pieces &pieces, nb::handle out, const std::string &casting) {
    const DType type = array_of(out).dtype();
    for (nb::handle piece : pieces) {
        if (array_of(piece).dtype() == type && casting == "same_kind") [[likely]]
            continue;
        const nb::object from = dtype_object(piece), to = dtype_object(out);
        if (!truth_of(nb::module_::import_("numpy").attr("can_cast")(from, to, casting)))
            throw_type_error(nb::cast<std::string>(nb::str(from)) + " cannot be cast to " +
                             nb::cast<std::string>(nb::str(to)) + " by the rule '" + casting + "'");
    }
}

nb::object join(const std::string &name, nb::handle arrays, nb::handle axis, nb::handle out,
                nb::handle dtype, const std::string &casting, nb::handle allocator) {
    const JoinedViews joined = joined_views(joining_named(name), arrays, axis);
    WorkScope scope;
    for (const Array &view : joined.views)
        scope.add(view);
    scope.enter();
    if (!out.is_none())
        check_out(joined, out, dtype);
    const nb::object result =
        out.is_none() ? new_result(joined, dtype, allocator) : nb::borrow(out);
    check_casts(joined.owners, result, casting);
    std::vector<PartCopy> parts;
    parts.reserve(joined.views.size());
    Layout layout = array_of(result).layout();
    std::int64_t offset = 0;
    for (const Array &view : joined.views) {
        const std::int64_t extent = view.layout().extent(joined.axis);
        const std::int64_t step = layout.stride(joined.axis);
        layout.set(joined.axis, extent, step);
        parts.push_back({array_of(result).view(layout, view.size() == 0 ? 0 : offset), view});
        offset += extent * step;
    }
    assign_parts(parts, current_stream());
    return result;
}

// Grids of coordinates

/// A vector along one axis of a grid.
Layout along(const Array &vector, int axis, int axes) {
    Layout layout;
    for (int i = 0; i < axes; ++i)
        layout.append(i == axis ? static_cast<std::int64_t>(vector.size()) : 1,
                      i == axis ? vector.layout().stride(0) : 0);
    return layout;
}

nb::tuple meshgrid(const nb::tuple &vectors, bool copy, bool sparse, bool swapped) {
    Pieces owners = pieces_of(vectors);
    const int axes = static_cast<int>(owners.size());
    std::vector<Layout> layouts;
    Layout common;
    for (int i = 0; i < axes; ++i) {
        nb::object &owner = owners[static_cast<std::size_t>(i)];
        if (array_of(owner).dimensions() != 1)
            owner = owner.attr("_reshape")(-1);
        const int axis = swapped && axes > 1 && i < 2 ? 1 - i : i;
        layouts.push_back(along(array_of(owner), axis, axes));
        common = broadcast_shapes(common, layouts.back());
    }
    WorkScope scope;
    for (const nb::object &owner : owners)
        scope.add(array_of(owner));
    scope.enter();
    nb::list grids;
    std::vector<PartCopy> parts;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        const Array &vector = array_of(owners[i]);
        const Layout layout = sparse ? layouts[i] : layouts[i].broadcast_to(common.shape());
        nb::object view = view_of(owners[i], layout, 0);
        if (copy) {
            const nb::handle owner = owners[i];
            nb::object grid = make_array(
                Layout::contiguous(layout.shape(), vector.item_size()), vector.dtype(),
                dtype_object(owner), type_of(owner),
                {PythonAllocatorScope::inherited(std::span(&owner, 1)), current_stream()});
            parts.push_back({array_of(grid), array_of(view)});
            grids.append(grid);
        } else {
            if (!sparse)
                array_of(view).set_writable(false); // several elements are one in memory
            grids.append(view);
        }
    }
    assign_parts(parts, current_stream());
    return nb::tuple(grids);
}

// Shifted elements

/// Copies `from` to `to` with the two parts of each axis exchanged, from the axis `number` on.
void roll_parts(std::vector<PartCopy> &parts, const Array &to, const Array &from,
                const nb::tuple &axes, const nb::tuple &steps, std::size_t number) {
    if (number == axes.size()) {
        parts.push_back({to, from});
        return;
    }
    const auto axis = static_cast<std::size_t>(axis_number(axes[number], from.dimensions()));
    const std::int64_t extent = from.layout().extent(static_cast<int>(axis));
    const std::int64_t step = integer(steps[number]);
    std::vector<Index> in_to(axis + 1, Index::slice()), in_from(axis + 1, Index::slice());
    auto append = [&](const Index &target, const Index &source) {
        in_to[axis] = target;
        in_from[axis] = source;
        roll_parts(parts, part(to, in_to), part(from, in_from), axes, steps, number + 1);
    };
    append(Index::slice(step), Index::slice({}, extent - step));
    if (step != 0)
        append(Index::slice({}, step), Index::slice(extent - step));
}

/// `steps` are from 0 to the extent of their axis, which is excluded.
void roll(nb::handle to, nb::handle from, const nb::tuple &axes, const nb::tuple &steps) {
    std::vector<PartCopy> parts;
    roll_parts(parts, require_array(to, "the result"), require_array(from, "the array"), axes,
               steps, 0);
    assign_parts(parts, current_stream());
}

} // namespace

void bind_array_join(nb::module_ &module) {
    module.def("_join", join, nb::arg("name"), nb::arg("arrays"), nb::arg("axis").none(),
               nb::arg("out").none(), nb::arg("dtype").none(), nb::arg("casting"),
               nb::arg("allocator").none());
    module.def("_meshgrid", meshgrid);
    module.def("_roll", in_work_scope(roll));
}

} // namespace pycuda::python
