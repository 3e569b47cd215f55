// foreign_array.h -- arrays of other libraries as kernel arguments: torch, CuPy, Numba, JAX ...
//
// How a type provides its address is determined once and stored in the table of argument types.
// Then an argument costs one or two attribute reads:
//
//     __dlpack_c_exchange_api__    a C function of the type: creates no Python object
//     torch.Tensor.data_ptr()      older versions of torch; its array interface is slow
//     cupy.ndarray.data.ptr        cupy; its array interface is slow
//     __cuda_array_interface__     Numba, JAX, RAPIDS
//     __dlpack__                   other libraries
#pragma once

#include "launch/argument_types.h"

#include <optional>

namespace pycuda::python {

/// How to pack values of this type; empty if they are not device arrays.
std::optional<ArgumentType> recognise_foreign_array(PyTypeObject *type);

/// The stream that produced an array with this __cuda_array_interface__; null if the interface
/// names none, so that no wait is needed. TypeError for an array with a mask: every use of an
/// interface calls this function, and none would heed the mask.
CUstream stream_of_interface(PyObject *interface, nb::handle owner);

/// For objects that have __cuda_array_interface__ as an attribute of the instance, not of the type.
/// False if `value` has none.
bool try_array_interface(nb::handle value, Packing &packing);

} // namespace pycuda::python
