// foreign_array.h -- arrays of other libraries as kernel arguments: torch, CuPy, Numba, JAX ...
//
// How a type tells its address is found out once and kept in the table of argument types; then an
// argument costs one or two attribute reads:
//
//     __dlpack_c_exchange_api__    a C function of the type: no object of Python is made
//     torch.Tensor.data_ptr()      torch before it had that; its array interface is slow
//     cupy.ndarray.data.ptr        as slow
//     __cuda_array_interface__     Numba, JAX, RAPIDS
//     __dlpack__                   the rest
#pragma once

#include "argument_types.h"

#include <optional>

namespace pycuda::python {

/// How values of this type are packed; empty where they are no arrays of the device.
std::optional<ArgumentType> recognise_foreign_array(PyTypeObject *type);

/// For objects that carry __cuda_array_interface__ themselves and not in their type. False where
/// `value` has none.
bool try_array_interface(nb::handle value, Packing &packing);

} // namespace pycuda::python
