// names.h -- names of attributes that are often looked up, interned when the module is initialised.
//
// Not static local variables: without the GIL, their guards would be locked while Python code runs.
#pragma once

#include "support/bindings.h"

namespace pycuda::python {

struct Names {
    PyObject *array;
    PyObject *cuda_array_interface;
    PyObject *data;
    PyObject *data_ptr;
    PyObject *dev_alloc;
    PyObject *dtype;
    PyObject *is_cuda;
    PyObject *mask;
    PyObject *ptr;
    PyObject *stream;
    PyObject *typestr;
};

/// Borrowed references, which stay valid. Null before intern_names().
extern Names names;

void intern_names();

} // namespace pycuda::python
