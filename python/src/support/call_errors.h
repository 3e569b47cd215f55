// call_errors.h -- error messages for calls with arguments that a bound function does not accept.
#pragma once

#include "support/bindings.h"

namespace pycuda::python {

/// From now on, functions and methods bound in `module` report wrong arguments with the messages of
/// pycuda._call_errors instead of C++ signatures. Call it once, after everything is bound.
void describe_call_errors(nb::module_ &module);

} // namespace pycuda::python
