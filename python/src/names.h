// names.h -- names of attributes that are looked up often, interned when the module is made.
//
// Not static locals: without the GIL their guards would be held while Python code may run.
#pragma once

#include "bindings.h"

namespace pycuda::python {

struct Names {
    PyObject *array;
    PyObject *cuda_array_interface;
    PyObject *data;
    PyObject *data_ptr;
    PyObject *dev_alloc;
    PyObject *dtype;
    PyObject *is_cuda;
    PyObject *ptr;
    PyObject *stream;
    PyObject *typestr;
};

/// Borrowed references that live to the end. Null before intern_names().
extern Names names;

void intern_names();

} // namespace pycuda::python
