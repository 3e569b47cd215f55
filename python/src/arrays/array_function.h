// array_function.h -- the context in which functions of arrays run.
#pragma once

#include "support/bindings.h"

#include <pycuda/work.h>

#include <cstddef>

namespace pycuda::python {

/// Adds the contexts of the arrays among the arguments, and in lists and tuples of them. Throws
/// std::invalid_argument, which names both devices, if two arrays are on different ones.
void add_contexts(WorkContext &context, PyObject *const *args, std::size_t count);

} // namespace pycuda::python
