// array_algorithms.cpp -- scans, sorting and products of arrays, for the package's Python.
#include "array_object.h"
#include "bindings.h"
#include "device_pointer.h"
#include "errors.h"
#include "python_object.h"

#include <pycuda/array_scan.h>

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

} // namespace

void bind_array_algorithms(nb::module_ &module) {
    module.def("_array_scan", array_scan, nb::arg("name"), nb::arg("array"), nb::arg("axis"),
               nb::arg("dtype") = nb::none(), nb::arg("stream") = nb::none());
}

} // namespace pycuda::python
