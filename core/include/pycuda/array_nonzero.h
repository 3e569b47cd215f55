// array_nonzero.h -- the indices of the nonzero elements, and the elements at these indices.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

namespace pycuda {

/// The indices of all elements that are not zero, in C order: an array of int64 with a row for each
/// axis of `array` (which has at least one) and a column for each nonzero element. Waits for the
/// device, because the shape of the result depends on the number of nonzero elements. Throws
/// UnsupportedTypes for structs.
Array nonzero(const Array &array, StreamRef stream);

/// The elements of `values` at which `where` is not zero, in C order, as an array of one axis. Both
/// have the same shape. Waits for the device like nonzero(). Throws UnsupportedTypes for masks of
/// structs.
Array compress(const Array &values, const Array &where, StreamRef stream);

} // namespace pycuda
