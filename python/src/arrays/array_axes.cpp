// array_axes.cpp -- reads axes and shapes, with NumPy's errors.
#include "arrays/array_axes.h"

#include "arrays/array_object.h"
#include "support/python_object.h"

#include <algorithm>
#include <string>

namespace pycuda::python {
namespace {

std::string represent(nb::handle value) { return nb::cast<std::string>(nb::repr(value)); }

[[noreturn]] void throw_axis_error(nb::handle axis, int dimensions) {
    const nb::object type = nb::module_::import_("numpy.exceptions").attr("AxisError");
    const nb::object error = type(axis, dimensions);
    PyErr_SetObject(type.ptr(), error.ptr());
    throw nb::python_error();
}

[[noreturn]] void throw_wrong_size(nb::handle shape, std::size_t size) {
    throw_value_error("total size of new array must be unchanged: the array has " +
                      std::to_string(size) + " elements, which do not fit shape " +
                      represent(shape));
}

} // namespace

Order order_named(const std::string &order) {
    if (order == "F")
        return Order::Fortran;
    if (order == "C" || order == "A" || order == "K")
        return Order::C;
    throw_value_error("order must be \"C\" or \"F\", not \"" + order + "\"");
}

std::int64_t integer(nb::handle value) {
    const bool is_int = PyLong_CheckExact(value.ptr());
    const nb::object index = is_int ? nb::borrow(value) : made(PyNumber_Index(value.ptr()));
    const long long number = PyLong_AsLongLong(index.ptr());
    if (number == -1 && PyErr_Occurred())
        throw nb::python_error();
    return number;
}

bool is_one_number(nb::handle value) {
    if (PyLong_Check(value.ptr())) [[likely]]
        return true;
    if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr()) || !PyIndex_Check(value.ptr()))
        return false;
    nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (index.is_valid())
        return true;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) // an array of several elements
        throw nb::python_error();
    PyErr_Clear();
    return false;
}

int axis_number(nb::handle axis, int dimensions) {
    const nb::object index =
        PyLong_CheckExact(axis.ptr()) ? nb::borrow(axis) : made(PyNumber_Index(axis.ptr()));
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow != 0 || number < -dimensions || number >= dimensions)
        throw_axis_error(axis, dimensions);
    return static_cast<int>(number < 0 ? number + dimensions : number);
}

void AxisList::append(int axis) {
    if (count_ == axes_.size())
        throw_value_error("an array has at most " + std::to_string(Layout::max_dimensions) +
                          " dimensions");
    axes_[count_++] = axis;
}

bool AxisList::has(int axis) const noexcept {
    return std::ranges::find(all(), axis) != all().end();
}

AxisList axis_numbers(nb::handle axes, int dimensions, Repeated repeated) {
    AxisList numbers;
    if (axes.is_none()) {
        for (int axis = 0; axis < dimensions; ++axis)
            numbers.append(axis);
        return numbers;
    }
    if (is_one_number(axes)) {
        numbers.append(axis_number(axes, dimensions));
        return numbers;
    }
    for (nb::handle one : nb::borrow<nb::list>(made(PySequence_List(axes.ptr())))) {
        const int axis = axis_number(one, dimensions);
        if (repeated == Repeated::Refused && numbers.has(axis))
            throw_value_error("an axis is repeated in " + represent(axes));
        numbers.append(axis);
    }
    return numbers;
}

Layout complete_shape(nb::handle shape, std::size_t size) {
    constexpr std::int64_t kUnknown = -1;
    nb::object extents = nb::borrow(shape);
    if (is_one_number(shape))
        extents = nb::make_tuple(shape);
    else if (!PyTuple_CheckExact(shape.ptr()))
        extents = made(PySequence_Tuple(shape.ptr()));
    Layout known;
    int unknown = -1;
    std::int64_t count = 1;
    bool fits = true;
    for (nb::handle item : nb::borrow<nb::tuple>(extents)) {
        const std::int64_t extent = integer(item);
        if (extent == kUnknown && unknown >= 0)
            throw_value_error("can only specify one unknown dimension");
        if (extent == kUnknown)
            unknown = known.dimensions();
        else
            fits = fits && extent >= 0 && !__builtin_mul_overflow(count, extent, &count);
        known.append(std::max<std::int64_t>(extent, 0), 0);
    }
    const auto wanted = static_cast<std::int64_t>(size);
    if (unknown >= 0 && fits && count > 0 && wanted % count == 0)
        known.set(unknown, wanted / count, 0);
    else if (unknown >= 0 || !fits || count != wanted)
        throw_wrong_size(extents, size);
    return known;
}

Layout with_axes(const Layout &layout, int least) {
    const int missing = least - layout.dimensions();
    if (missing <= 0)
        return layout;
    const bool last = least == 3 && layout.dimensions() > 0;
    Layout result;
    for (int i = last ? 1 : 0; i < missing; ++i)
        result.append(1, 0);
    for (int axis = 0; axis < layout.dimensions(); ++axis)
        result.append(layout.extent(axis), layout.stride(axis));
    if (last)
        result.append(1, 0);
    return result;
}

Layout as_columns(const Layout &layout) {
    Layout result = with_axes(layout, 1);
    if (result.dimensions() == 1)
        result.append(1, 0);
    return result;
}

} // namespace pycuda::python
