// element_check.h -- warns if an array's elements differ from the type of the kernel's pointer.
#pragma once

#include "launch/function.h"

namespace pycuda::python {

/// Compares the dtype of an array (or a string such as "<f4") with the declared element type of
/// parameter `index` of the kernel, if the source declares it. Warns once, for example if a float64
/// array is passed for a `float *`. After the first check of a dtype, this is one comparison of
/// addresses.
void check_elements(FunctionObject &function, std::size_t index, nb::handle dtype);

/// Whether this dtype, which may be null, was the last one that check_elements() has compared.
inline bool is_last_checked(const FunctionObject &function, std::size_t index,
                            PyObject *dtype) noexcept {
    return dtype != nullptr &&
           function.checked_dtypes[index].load(std::memory_order_relaxed) == dtype;
}

/// As above, for elements with numpy's letter for their kind, and their size.
void check_elements(FunctionObject &function, std::size_t index, char kind, std::size_t size);

} // namespace pycuda::python
