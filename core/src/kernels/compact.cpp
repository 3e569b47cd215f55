// compact.cpp -- copies arrays with strides to contiguous arrays.
#include "kernels/compact.h"

#include <pycuda/array_operation.h>

namespace pycuda {

Array compact(const Array &array, StreamRef stream) {
    if (array.is_c_contiguous() && array.is_aligned())
        return array;
    Array copy = Array::scratch(array.context(), array.shape(), array.dtype(), stream);
    assign(copy, array, Casting::No, stream);
    return copy;
}

} // namespace pycuda
