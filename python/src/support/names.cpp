// names.cpp -- names of attributes that are often looked up.
#include "support/names.h"

namespace pycuda::python {

constinit Names names{};

void intern_names() {
    names = {
        .array = PyUnicode_InternFromString("array"),
        .cuda_array_interface = PyUnicode_InternFromString("__cuda_array_interface__"),
        .data = PyUnicode_InternFromString("data"),
        .data_ptr = PyUnicode_InternFromString("data_ptr"),
        .dev_alloc = PyUnicode_InternFromString("dev_alloc"),
        .dtype = PyUnicode_InternFromString("dtype"),
        .is_cuda = PyUnicode_InternFromString("is_cuda"),
        .mask = PyUnicode_InternFromString("mask"),
        .ptr = PyUnicode_InternFromString("ptr"),
        .stream = PyUnicode_InternFromString("stream"),
        .typestr = PyUnicode_InternFromString("typestr"),
    };
    if (PyErr_Occurred())
        throw nb::python_error();
}

} // namespace pycuda::python
