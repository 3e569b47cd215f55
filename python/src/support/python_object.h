// python_object.h -- type names, attributes and integers of Python objects.
#pragma once

#include "support/bindings.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace pycuda::python {

/// The name of an object's type for messages: "numpy.ndarray", "int".
std::string name_of_type(nb::handle object);
/// The name of the type without its module.
std::string unqualified_name_of_type(nb::handle object);
/// The text of an object with the driver's handle: "<pycuda.driver.Event 0x55d0c0>".
std::string shown_with_handle(const char *type, const void *handle);

/// The driver's handle of an object, as an int.
template <class Object> std::uintptr_t handle_of(const Object &object) {
    return reinterpret_cast<std::uintptr_t>(object.get());
}

/// A member of a class of constants: enum_member("array_format", 32).
nb::object enum_member(const char *enumeration, int value);

/// The object that a function of CPython made. Throws Python's error if the function returned null.
inline nb::object made(PyObject *result) {
    if (result == nullptr)
        throw nb::python_error();
    return nb::steal(result);
}

/// The attribute; invalid if the object does not have it. Other errors pass through.
nb::object optional_attribute(nb::handle object, const char *name);

/// The value of an int, or of an object with __index__, as an address or size. Throws if it does
/// not fit.
unsigned long long unsigned_integer(nb::handle object);

/// bool(object). Throws the object's error, such as that of an array of several elements.
inline bool truth_of(nb::handle object) {
    const int truth = PyObject_IsTrue(object.ptr());
    if (truth < 0)
        throw nb::python_error();
    return truth != 0;
}

/// A number of bytes, for an argument with the name `what`: an int that is not negative. Throws
/// TypeError or ValueError.
std::size_t byte_count(nb::handle object, const char *what);

/// An object that Python code makes at its first use, and that is kept for ever. As a static local
/// variable, `static constinit KeptObject`: a static local with an initialiser locks a guard while
/// Python runs, so a second thread would wait for the guard with the GIL that the first one needs.
class KeptObject {
  public:
    /// `make` may run twice, in two threads.
    template <class Make> nb::handle get(Make &&make) {
        if (PyObject *known = object_.load(std::memory_order_acquire)) [[likely]]
            return known;
        nb::object made = make();
        PyObject *first = nullptr; // another thread may have stored one
        return object_.compare_exchange_strong(first, made.ptr()) ? made.release()
                                                                  : nb::handle(first);
    }

  private:
    std::atomic<PyObject *> object_{nullptr};
};

inline PyTypeObject *type_of(nb::handle object) { return Py_TYPE(object.ptr()); }

/// Throws Python's TypeError, or ValueError.
[[noreturn]] void throw_type_error(const std::string &message);
[[noreturn]] void throw_value_error(const std::string &message);

} // namespace pycuda::python
