// heap_type.h -- types of Python that are made by hand, for calls without nanobind's cost.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace pycuda::python {

/// The value of a PyType_Slot.
template <class Function> void *slot(Function *function) {
    return reinterpret_cast<void *>(function);
}

/// A new type. `slots` ends with {0, nullptr}. Throws python_error.
inline PyTypeObject *make_heap_type(const char *name, std::size_t size, unsigned long flags,
                                    PyType_Slot *slots) {
    PyType_Spec spec = {name, static_cast<int>(size), 0,
                        static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | flags),
                        slots};
    PyObject *type = PyType_FromSpec(&spec);
    if (type == nullptr)
        throw nanobind::python_error();
    return reinterpret_cast<PyTypeObject *>(type);
}

} // namespace pycuda::python
