// call_errors.h -- the words for calls whose arguments a bound function cannot take.
#pragma once

#include "bindings.h"

namespace pycuda::python {

/// From now on, the functions and methods that nanobind has bound in `module` report arguments that
/// they cannot take in words of pycuda._call_errors, not as signatures of C++. To be called once,
/// when all is bound.
void describe_call_errors(nb::module_ &module);

} // namespace pycuda::python
