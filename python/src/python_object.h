// python_object.h -- small questions to objects of Python.
#pragma once

#include "bindings.h"

#include <cstddef>
#include <string>

namespace pycuda::python {

/// The name of an object's type as a message shows it: "numpy.ndarray", "int".
std::string name_of_type(nb::handle object);
/// The same without its module.
std::string unqualified_name_of_type(nb::handle object);

/// The attribute; invalid where the object has none. Other errors pass through.
nb::object optional_attribute(nb::handle object, const char *name);

/// An integer, or what has __index__, as an address or size. Throws where it does not fit.
unsigned long long unsigned_integer(nb::handle object);

/// How many bytes, as an argument called `what`: an int that is not negative. Throws TypeError or
/// ValueError.
std::size_t byte_count(nb::handle object, const char *what);

inline PyTypeObject *type_of(nb::handle object) { return Py_TYPE(object.ptr()); }

/// Throws Python's TypeError, or ValueError.
[[noreturn]] void throw_type_error(const std::string &message);
[[noreturn]] void throw_value_error(const std::string &message);

} // namespace pycuda::python
