// array_algorithms.cpp -- scans, sorting and products of arrays, for the package's Python.
#include "array_object.h"
#include "bindings.h"
#include "device_pointer.h"
#include "errors.h"
#include "python_object.h"

#include <pycuda/array_product.h>
#include <pycuda/array_scan.h>
#include <pycuda/array_sort.h>

#include <nanobind/stl/string.h>

#include <optional>

namespace pycuda::python {
namespace {

StreamRef queue_of(nb::handle stream) {
    return stream.is_none() ? StreamRef() : stream_ref(stream);
}

std::optional<ScalarType> type_of(nb::handle dtype) {
    if (dtype.is_none())
        return {};
    return dtype_of(dtype).scalar();
}

nb::object array_scan(const std::string &name, nb::handle self, int axis, nb::handle dtype,
                      nb::handle stream) {
    const std::optional<Scan> kind = find_scan(name);
    if (!kind)
        throw_value_error("there is no scan \"" + name + "\"");
    const Array &in = require_array(self, "the array to scan");
    return wrap_array(scan(*kind, in, axis, type_of(dtype), queue_of(stream)), Py_TYPE(self.ptr()));
}

SortWay way_named(const std::string &way) {
    if (way == "chosen")
        return SortWay::Chosen;
    if (way == "blocks" || way == "serial")
        return way == "blocks" ? SortWay::Blocks : SortWay::Serial;
    throw_value_error("way must be \"chosen\", \"blocks\" or \"serial\", not \"" + way + "\"");
}

nb::object array_sort(nb::handle self, int axis, bool descending, nb::handle stream,
                      const std::string &way) {
    const Array &in = require_array(self, "the array to sort");
    return wrap_array(sort(in, axis,
                           {.descending = descending,
                            .order = nullptr,
                            .stream = queue_of(stream),
                            .way = way_named(way)}),
                      Py_TYPE(self.ptr()));
}

nb::object array_argsort(nb::handle self, int axis, bool descending, nb::handle order,
                         nb::handle stream, const std::string &way) {
    const Array &in = require_array(self, "the array to sort");
    const Array *first = order.is_none() ? nullptr : &require_array(order, "the order");
    return wrap_array(argsort(in, axis,
                              {.descending = descending,
                               .order = first,
                               .stream = queue_of(stream),
                               .way = way_named(way)}),
                      Py_TYPE(self.ptr()));
}

nb::object array_search(nb::handle sorted, nb::handle values, bool right, nb::handle stream) {
    return wrap_array(search_sorted(require_array(sorted, "the sorted array"),
                                    require_array(values, "the values"),
                                    right ? SearchSide::Right : SearchSide::Left, queue_of(stream)),
                      Py_TYPE(values.ptr()));
}

nb::object array_product(nb::handle a, nb::handle b, nb::handle dtype, nb::handle stream,
                         bool own) {
    ProductOptions options;
    options.dtype = type_of(dtype);
    options.stream = queue_of(stream);
    options.way = own ? ProductWay::Own : ProductWay::Chosen;
    return wrap_array(
        matrix_product(require_array(a, "a factor"), require_array(b, "a factor"), options),
        Py_TYPE(a.ptr()));
}

} // namespace

void bind_array_algorithms(nb::module_ &module) {
    module.def("_array_scan", array_scan, nb::arg("name"), nb::arg("array"), nb::arg("axis"),
               nb::arg("dtype") = nb::none(), nb::arg("stream") = nb::none());
    module.def("_array_sort", array_sort, nb::arg("array"), nb::arg("axis"),
               nb::arg("descending") = false, nb::arg("stream") = nb::none(),
               nb::arg("way") = "chosen");
    module.def("_array_argsort", array_argsort, nb::arg("array"), nb::arg("axis"),
               nb::arg("descending") = false, nb::arg("order") = nb::none(),
               nb::arg("stream") = nb::none(), nb::arg("way") = "chosen");
    module.def("_array_product", array_product, nb::arg("a"), nb::arg("b"),
               nb::arg("dtype") = nb::none(), nb::arg("stream") = nb::none(),
               nb::arg("own") = false);
    module.def("_array_search", array_search, nb::arg("sorted"), nb::arg("values"),
               nb::arg("right") = false, nb::arg("stream") = nb::none());
}

} // namespace pycuda::python
