// element_check.cpp -- warns where an array's elements are not what the kernel's pointer points to.
#include "element_check.h"

#include "python_object.h"

#include <nanobind/stl/string.h>

namespace pycuda::python {
namespace {

struct ElementType {
    char kind = 0; ///< as numpy has it: f, i, u, b, c, V ...
    std::size_t size = 0;
    std::string name; ///< "float64"
};

ElementType describe(nb::handle dtype) {
    if (nb::isinstance<nb::str>(dtype)) { // "<f4"
        std::string text = nb::cast<std::string>(dtype);
        if (text.size() < 3)
            return {};
        return {text[1], std::strtoul(text.c_str() + 2, nullptr, 10), text};
    }
    return {nb::cast<std::string>(dtype.attr("kind"))[0],
            nb::cast<std::size_t>(dtype.attr("itemsize")), nb::cast<std::string>(nb::str(dtype))};
}

bool is_integral(char kind) { return kind == 'i' || kind == 'u' || kind == 'b'; }

/// Whether the kernel would misread the elements. Bytes, records, and complex numbers seen as pairs
/// of reals are left to the programmer, who means something by them.
bool misread(const ElementType &given, const Parameter &wanted) {
    if (given.kind == 'f')
        return wanted.element_kind != ValueKind::Float || given.size != wanted.element_size;
    if (is_integral(given.kind) && given.size > 1)
        return wanted.element_kind == ValueKind::Float || given.size != wanted.element_size;
    return false;
}

bool is_number(ValueKind kind) {
    return kind == ValueKind::Float || kind == ValueKind::Signed || kind == ValueKind::Unsigned;
}

std::string numpy_name(const Parameter &wanted) {
    const char *stem = wanted.element_kind == ValueKind::Float    ? "float"
                       : wanted.element_kind == ValueKind::Signed ? "int"
                                                                  : "uint";
    return "numpy." + (stem + std::to_string(8 * wanted.element_size));
}

void warn(const FunctionObject &self, std::size_t index, const ElementType &given,
          const Parameter &wanted) {
    std::string text =
        "kernel '" + self.function.name() + "', argument " + std::to_string(index) +
        ": the kernel takes " + self.function.layout().type(index) + ", an array of " +
        std::to_string(wanted.element_size) + "-byte elements, and got one of " + given.name +
        " (" + std::to_string(given.size) +
        " bytes each), which it will misread; convert with .astype(" + numpy_name(wanted) + ")";
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0)
        throw nb::python_error();
}

} // namespace

void check_elements(FunctionObject &self, std::size_t index, nb::handle dtype) {
    const ParameterLayout &layout = self.function.layout();
    if (index >= layout.count() || !is_number(layout[index].element_kind))
        return;
    if (self.checked_dtypes.size() <= index)
        self.checked_dtypes.resize(layout.count(), nullptr);
    PyObject *&checked = self.checked_dtypes[index];
    if (checked == dtype.ptr())
        return;
    Py_XDECREF(checked);
    checked = Py_NewRef(dtype.ptr());
    const ElementType given = describe(dtype);
    if (misread(given, layout[index]))
        warn(self, index, given, layout[index]);
}

} // namespace pycuda::python
