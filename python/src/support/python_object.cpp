// python_object.cpp -- type names, attributes and integers of Python objects.
#include "support/python_object.h"

#include <nanobind/stl/string.h>

#include <cstdio>

namespace pycuda::python {

std::string name_of_type(nb::handle object) {
    nb::handle type = reinterpret_cast<PyObject *>(type_of(object));
    std::string module =
        nb::cast<std::string>(nb::str(nb::getattr(type, "__module__", nb::str(""))));
    std::string name = nb::cast<std::string>(nb::str(type.attr("__qualname__")));
    return module.empty() || module == "builtins" ? name : module + "." + name;
}

std::string unqualified_name_of_type(nb::handle object) {
    const std::string name = name_of_type(object);
    return name.substr(name.rfind('.') + 1);
}

std::string shown_with_handle(const char *type, const void *handle) {
    char text[64];
    std::snprintf(text, sizeof text, "<pycuda.driver.%s %p>", type, handle);
    return text;
}

nb::object enum_member(const char *enumeration, int value) {
    return nb::module_::import_("pycuda._driver").attr(enumeration)(value);
}

nb::object optional_attribute(nb::handle object, const char *name) {
    PyObject *found = PyObject_GetAttrString(object.ptr(), name);
    if (found == nullptr) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            throw nb::python_error();
        PyErr_Clear();
    }
    return nb::steal(found);
}

unsigned long long unsigned_integer(nb::handle object) {
    nb::object number = made(PyNumber_Index(object.ptr()));
    unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
    if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred())
        throw nb::python_error();
    return value;
}

std::size_t byte_count(nb::handle object, const char *what) {
    nb::object number = nb::steal(PyNumber_Index(object.ptr()));
    if (!number.is_valid()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            throw nb::python_error();
        PyErr_Clear();
        std::string text = std::string(what) + " must be an int, not " + name_of_type(object);
        if (PyFloat_Check(object.ptr()))
            text += "; // divides ints and returns an int";
        else if (nb::object bytes = optional_attribute(object, "nbytes"); bytes.is_valid())
            text += ", whose nbytes is " + nb::cast<std::string>(nb::str(bytes));
        throw_type_error(text);
    }
    const Py_ssize_t bytes = PyLong_AsSsize_t(number.ptr());
    if (bytes == -1 && PyErr_Occurred())
        throw nb::python_error();
    if (bytes < 0)
        throw_value_error(std::string(what) + " is " + std::to_string(bytes) +
                          ", expected 0 or more");
    return static_cast<std::size_t>(bytes);
}

void throw_type_error(const std::string &message) { throw nb::type_error(message.c_str()); }
void throw_value_error(const std::string &message) { throw nb::value_error(message.c_str()); }

} // namespace pycuda::python
