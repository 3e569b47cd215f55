// errors.h -- converts C++ exceptions to the Python exceptions that pycuda.driver documents.
#pragma once

#include "support/bindings.h"

#include <pycuda/error.h>

namespace pycuda::python {

/// Sets Python's error to match the C++ exception that is being handled. Call it in a catch block.
void set_python_error() noexcept;

/// Runs `body`, which returns a new reference, in code that Python calls without nanobind.
template <class Body> PyObject *guarded(Body &&body) noexcept {
    try {
        return body();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

} // namespace pycuda::python
