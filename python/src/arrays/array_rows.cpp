// array_rows.cpp -- rows of arrays that indices select, for the package's Python code.
#include "arrays/array_index.h"
#include "arrays/array_object.h"
#include "arrays/array_scope.h"
#include "arrays/array_value.h"
#include "memory/work_scope.h"
#include "support/bindings.h"
#include "support/errors.h"
#include "support/python_object.h"

#include <pycuda/array_rows.h>
#include <pycuda/index_check.h>

#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <vector>

namespace pycuda::python {
namespace {

/// None if an index is out of bounds.
nb::object take_rows_of(const Array &from, nb::handle base, const Array &at, bool checked) {
    if (from.dimensions() == 0)
        throw_value_error("an array without axes has no rows");
    std::vector<std::int64_t> shape(at.shape().begin(), at.shape().end());
    shape.insert(shape.end(), from.shape().begin() + 1, from.shape().end());
    const std::shared_ptr<ArrayContext> context = from.memory() ? from.context()
                                                  : at.memory() ? at.context()
                                                                : ArrayContext::current();
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{base}));
    const StreamRef stream = current_stream();
    Array out = Array::empty(context, shape, from.dtype(), Order::C, stream);
    if (!take_rows(out, from, {&at, checked}, stream))
        return nb::none();
    const nb::object dtype = from.dtype().is_opaque() ? base.attr("dtype") : nb::object();
    return wrap_array(std::move(out), Py_TYPE(base.ptr()), dtype);
}

nb::object array_take_rows(nb::handle base, nb::handle places, bool checked) {
    return take_rows_of(require_array(base, "the array"), base,
                        require_array(places, "the indices"), checked);
}

/// Elements of the first axis, or of the flat array. None if the arrays need the general way, and
/// if an index is out of bounds.
nb::object array_take(nb::handle base, nb::handle places, bool flat) {
    const Array &at = array_of(places);
    const Array &whole = array_of(base);
    if (at.dtype() != DType(ScalarType::Int64) && at.dtype() != DType(ScalarType::Int32))
        return nb::none();
    if (!flat || whole.dimensions() == 1)
        return whole.dimensions() == 0 ? nb::none() : take_rows_of(whole, base, at, true);
    if (!whole.is_c_contiguous())
        return nb::none();
    const std::int64_t shape[] = {static_cast<std::int64_t>(whole.size())};
    return take_rows_of(whole.view(Layout::contiguous(shape, whole.item_size())), base, at, true);
}

void array_note_bounds(nb::handle indices, std::int64_t low, std::int64_t high) {
    note_bounds(require_array(indices, "the indices"), low, high);
}

bool array_put_rows(nb::handle base, nb::handle places, nb::handle in, bool checked) {
    return put_rows(require_array(base, "the array"),
                    {&require_array(places, "the indices"), checked},
                    require_array(in, "the values"), current_stream());
}

bool array_combine_rows(const std::string &name, nb::handle base, nb::handle places, nb::handle in,
                        bool checked) {
    const Array &at = require_array(places, "the indices");
    return combine_rows(operation_named(name), require_array(base, "the array"), {&at, checked},
                        require_array(in, "the values"), current_stream());
}

} // namespace

nb::object selected_rows(nb::handle base, nb::handle places) {
    static const auto take = in_work_scope(array_take);
    return take(base, places, false);
}

void bind_array_rows(nb::module_ &module) {
    module.def("_array_has_rows",
               [](nb::handle array) { return has_rows(require_array(array, "the array")); });
    module.def("_array_take_rows", in_work_scope(array_take_rows), nb::arg("array"),
               nb::arg("places"), nb::arg("checked") = true);
    module.def("_array_take", in_work_scope(array_take), nb::arg("array"), nb::arg("places"),
               nb::arg("flat"));
    module.def("_array_note_bounds", array_note_bounds, nb::arg("indices"), nb::arg("low"),
               nb::arg("high"),
               "The elements of a new array of indices are at least low and less than high.");
    module.def("_array_put_rows", in_work_scope(array_put_rows), nb::arg("array"),
               nb::arg("places"), nb::arg("values"), nb::arg("checked") = true);
    module.def("_array_can_combine_rows", [](const std::string &name, nb::handle dtype) {
        const std::optional<Operation> operation = find_operation(name);
        const DType type = dtype_of(dtype);
        return operation && !type.is_opaque() && can_combine_rows(*operation, type.scalar());
    });
    module.def("_array_combine_rows", in_work_scope(array_combine_rows), nb::arg("name"),
               nb::arg("array"), nb::arg("places"), nb::arg("values"), nb::arg("checked") = true);
}

} // namespace pycuda::python
