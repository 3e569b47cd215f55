// launch_config.h -- reads block=, grid= and the other keywords of a launch.
#pragma once

#include "support/bindings.h"

#include <pycuda/launch_attributes.h>

#include <span>
#include <string>

namespace pycuda::python {

/// Call it once, before the first launch.
void intern_launch_keywords();

/// Reads (x,), (x, y), (x, y, z) or x, of Python ints or numpy integers, in a tuple or any
/// sequence. `what` is "block" or "grid". Throws TypeError, ValueError, or Error for more than
/// three.
Dim3 read_extent(PyObject *value, const char *what);

/// Bytes of dynamic shared memory.
unsigned read_shared(PyObject *value);

/// The keywords of func(...).
struct CallOptions {
    LaunchConfig config;
    LaunchAttributes attributes;
    nb::handle stream = Py_None;
    bool has_block = false;
    bool time_kernel = false;
};

/// For a call without block=. Throws ValueError.
[[noreturn]] void reject_missing_block(const std::string &kernel, PyObject *const *args,
                                       std::size_t count);

/// `values[i]` is the value of the i-th name in the tuple `names`, which may be null.
CallOptions read_call_options(PyObject *const *values, PyObject *names);

/// The only keyword of prepared_*call(): shared_size.
unsigned read_shared_size(PyObject *const *values, PyObject *names);

} // namespace pycuda::python
