// element_check.h -- warns where an array's elements are not what the kernel's pointer points to.
#pragma once

#include "function.h"

namespace pycuda::python {

/// Compares numpy's dtype of an array (or a string such as "<f4") with what parameter `index` of
/// the kernel points to, where its source says so, and warns once where a float64 array meets a
/// `float *`. After the first time for a dtype this is one comparison of addresses.
void check_elements(FunctionObject &function, std::size_t index, nb::handle dtype);

/// The same of elements that are known by numpy's letter for their kind and by their size.
void check_elements(FunctionObject &function, std::size_t index, char kind, std::size_t size);

} // namespace pycuda::python
