// bound_launch.h -- a launch whose arguments are packed once and that is repeated many times.
//
//     step = func.bind(a_gpu, b_gpu, numpy.int32(n), block=(256, 1, 1), grid=(64, 1))
//     for _ in range(1000):
//         step()
#pragma once

#include "support/bindings.h"
#include "support/repeated_use.h"

#include <pycuda/launch.h>

namespace pycuda::python {

/// func.bind(*args, block=, grid=, stream=, shared=), with the signature of PyMethodDef.
PyObject *function_bind(PyObject *self, PyObject *const *args, Py_ssize_t count,
                        PyObject *names) noexcept;

/// The launch of a BoundLaunch; valid as long as the BoundLaunch exists.
struct BoundCall {
    const Function *function;
    const LaunchConfig *config;
    void *arguments;
    std::size_t size;
    const RepeatedUse *use;
};
/// Throws TypeError if the object is not a BoundLaunch.
BoundCall bound_call_of(nb::handle launch);

/// The type pycuda.driver.BoundLaunch.
void bind_bound_launch(nb::module_ &module);

} // namespace pycuda::python
