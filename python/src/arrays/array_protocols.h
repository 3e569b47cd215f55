// array_protocols.h -- NumPy's functions and ufuncs called on arrays of the device.
#pragma once

#include "support/bindings.h"

namespace pycuda::python {

/// The slot with __array_function__ and __array_ufunc__ for the class of arrays.
PyType_Slot numpy_protocols_slot();

} // namespace pycuda::python
