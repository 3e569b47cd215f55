// function.h -- pycuda.driver.Function, implemented with CPython's API instead of nanobind.
//
// A kernel call is the hottest path of the package. Through `vectorcall` it creates no Python
// object, neither for the arguments nor for the call.
//
//     func(a_gpu, numpy.int32(n), block=(256, 1, 1), grid=(64, 1))
//       keywords     -> LaunchConfig                      launch_config.cpp
//       each value   -> its place in the ArgumentBlock    argument_types.cpp, argument_packing.cpp
//       In/Out/InOut -> copies before and after           staged_arguments.cpp
//       the launch                                        function_call.cpp
#pragma once

#include "support/bindings.h"

#include "launch/legacy_call.h"

#include <pycuda/function.h>

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace pycuda::python {

/// One argument as described to prepare().
struct PreparedArgument {
    char code = 0;        ///< as in the struct module; 'P' for pointers, 's' for bytes
    std::size_t size = 0; ///< in bytes
    ValueKind kind = ValueKind::Unknown;
};

/// The arguments as described by one call of prepare().
struct PreparedFormat {
    std::string format;
    std::vector<PreparedArgument> arguments;
};

/// The object of a pycuda.driver.Function.
struct FunctionObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *attributes; ///< __dict__
    PyObject *weak_references;
    PyObject *module; ///< the Module of the function, which keeps memory that is bound to textures
    Function function;
    /// The current format; null before prepare(). A launch may still read a format while another
    /// thread calls prepare(), so all earlier formats are kept.
    std::atomic<const PreparedFormat *> prepared;
    nb::ft_mutex preparing; ///< locks prepared_formats
    std::deque<PreparedFormat> prepared_formats;
    std::unique_ptr<LegacyLaunch> legacy; ///< null if the functions of CUDA 3 are not used
    /// For each argument, the element type that was compared with the kernel's: see
    /// element_check.h.
    std::unique_ptr<std::atomic<PyObject *>[]> checked_dtypes; ///< layout().count() of them
};

/// A new reference to a Function object of this Module.
nb::object wrap_function(Function function, nb::handle module = Py_None);

/// func(*args, block=..., grid=..., stream=..., shared=..., texrefs=..., time_kernel=...).
PyObject *function_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                              PyObject *keywords) noexcept;

/// The methods prepare() and prepared_*(), with signatures of PyMethodDef.
PyObject *function_prepare(PyObject *self, PyObject *args, PyObject *keywords) noexcept;
PyObject *function_prepared_call(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                 PyObject *keywords) noexcept;
PyObject *function_prepared_async_call(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                       PyObject *keywords) noexcept;
PyObject *function_prepared_timed_call(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                       PyObject *keywords) noexcept;

} // namespace pycuda::python
