// array_function.h -- the context in which functions of arrays run.
#pragma once

#include "bindings.h"

#include <pycuda/context.h>

#include <cstddef>
#include <optional>

namespace pycuda::python {

/// The context of the first array among the arguments, or in a list or tuple of them, unless it is
/// current.
std::optional<Context> other_context(PyObject *const *args, std::size_t count);

} // namespace pycuda::python
