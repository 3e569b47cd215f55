// element_check.cpp -- warns if an array's elements differ from the type of the kernel's pointer.
#include "launch/element_check.h"
#include <pycuda/kernel_signature.h>

#include "support/python_object.h"

#include <nanobind/stl/string.h>

namespace pycuda::python {
namespace {

struct ElementType {
    char kind = 0; ///< numpy's letter: f, i, u, b, c, V ...
    std::size_t size = 0;
    std::string name;         ///< "float64"
    bool is_reversed = false; ///< the bytes of a number have the other order than the machine's
};

ElementType describe(nb::handle dtype) {
    if (nb::isinstance<nb::str>(dtype)) { // "<f4"
        std::string text = nb::cast<std::string>(dtype);
        if (text.size() < 3)
            return {};
        return {text[1], std::strtoul(text.c_str() + 2, nullptr, 10), text, text[0] == '>'};
    }
    const std::string name = nb::cast<std::string>(nb::str(dtype));
    if (nb::hasattr(dtype, "is_floating_point")) { // a dtype of torch
        const bool real = nb::cast<bool>(dtype.attr("is_floating_point"));
        const bool plain = real && name.find("bfloat") == std::string::npos;
        const bool is_complex = nb::cast<bool>(dtype.attr("is_complex"));
        const bool is_signed = nb::cast<bool>(dtype.attr("is_signed"));
        return {plain                ? 'f'
                : real || is_complex ? 'V'
                : is_signed          ? 'i'
                                     : 'u',
                nb::cast<std::size_t>(dtype.attr("itemsize")), name};
    }
    return {nb::cast<std::string>(dtype.attr("kind"))[0],
            nb::cast<std::size_t>(dtype.attr("itemsize")), name,
            !nb::cast<bool>(nb::getattr(dtype, "isnative", nb::bool_(true)))};
}

bool is_integral(char kind) { return kind == 'i' || kind == 'u' || kind == 'b'; }

bool is_number(char kind) { return is_integral(kind) || kind == 'f' || kind == 'c'; }

/// Complex numbers may be read as pairs of real numbers, as bytes, or as integers of their size.
bool misread_complex(std::size_t size, const Parameter &wanted) {
    if (wanted.element_kind == ValueKind::Float)
        return size != 2 * wanted.element_size;
    return wanted.element_size != 1 && wanted.element_size != size;
}

/// Whether the kernel would misread the elements. Bytes, records, and complex numbers as pairs of
/// real numbers are assumed to be intended. A mask of bool is checked: the result of a comparison
/// in PyCUDA has the type of its operands, and kernels for PyCUDA expect this type.
bool misread(const ElementType &given, const Parameter &wanted) {
    if (given.is_reversed && is_number(given.kind) && wanted.element_size > 1)
        return true;
    if (wanted.element_kind == ValueKind::Pointer) // addresses may be 64-bit integers
        return given.kind == 'f' || given.kind == 'c' ||
               (is_integral(given.kind) && given.size > 1 && given.size != 8);
    if (given.kind == 'c')
        return misread_complex(given.size, wanted);
    if (given.kind == 'b')
        return wanted.element_kind == ValueKind::Float || wanted.element_size != 1;
    if (given.kind == 'f')
        return wanted.element_kind != ValueKind::Float || given.size != wanted.element_size;
    if (is_integral(given.kind) && given.size > 1)
        return wanted.element_kind == ValueKind::Float || given.size != wanted.element_size;
    return false;
}

bool is_checked(ValueKind kind) {
    return kind == ValueKind::Pointer || kind == ValueKind::Float || kind == ValueKind::Signed ||
           kind == ValueKind::Unsigned;
}

/// "float64" for 'f' and 8.
std::string numpy_name(char kind, std::size_t size) {
    const char *stem = kind == 'f' ? "float" : kind == 'i' ? "int" : kind == 'b' ? "bool" : "uint";
    return stem + std::to_string(8 * size);
}

/// The type of the array that the kernel reads correctly.
std::string numpy_name(const ElementType &given, const Parameter &wanted) {
    if (given.kind == 'c' && wanted.element_kind == ValueKind::Float)
        return "numpy.complex" + std::to_string(16 * wanted.element_size);
    const char kind = wanted.element_kind == ValueKind::Float    ? 'f'
                      : wanted.element_kind == ValueKind::Signed ? 'i'
                                                                 : 'u';
    return "numpy." + numpy_name(kind, wanted.element_size);
}

void warn(const FunctionObject &self, std::size_t index, const ElementType &given,
          const Parameter &wanted) {
    const bool addresses = wanted.element_kind == ValueKind::Pointer;
    const std::string text =
        "kernel '" + readable_name(self.function.name()) + "', argument " + std::to_string(index) +
        ": the kernel takes " + self.function.layout().type(index) + ", an array of " +
        (addresses ? "addresses" : std::to_string(wanted.element_size) + "-byte elements") +
        ", and got one of " + given.name + " (" + std::to_string(given.size) +
        " bytes each), which it will misread; " +
        (addresses ? "a 2-D array is passed as one pointer, and an element is "
                     "a[row * width + column]"
                   : "convert with .astype(" + numpy_name(given, wanted) + ")");
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0)
        throw nb::python_error();
}

/// The place of the last checked dtype; null if there is nothing to compare.
std::atomic<PyObject *> *last_checked(FunctionObject &self, std::size_t index) {
    const ParameterLayout &layout = self.function.layout();
    if (index >= layout.count() || !is_checked(layout[index].element_kind))
        return nullptr;
    return &self.checked_dtypes[index];
}

} // namespace

void check_elements(FunctionObject &self, std::size_t index, nb::handle dtype) {
    std::atomic<PyObject *> *checked = last_checked(self, index);
    if (checked == nullptr || checked->load(std::memory_order_relaxed) == dtype.ptr())
        return;
    Py_XDECREF(checked->exchange(Py_NewRef(dtype.ptr())));
    const ElementType given = describe(dtype);
    const Parameter &wanted = self.function.layout()[index];
    if (misread(given, wanted))
        warn(self, index, given, wanted);
}

void check_elements(FunctionObject &self, std::size_t index, char kind, std::size_t size) {
    std::atomic<PyObject *> *checked = last_checked(self, index);
    if (checked == nullptr)
        return;
    const ElementType given{kind, size, {}};
    const Parameter &wanted = self.function.layout()[index];
    if (!misread(given, wanted) || checked->load(std::memory_order_relaxed) == Py_None)
        return;
    Py_XDECREF(checked->exchange(Py_NewRef(Py_None))); // warns only once
    warn(self, index, {kind, size, numpy_name(kind, size)}, wanted);
}

} // namespace pycuda::python
