// array_nonzero.h -- the indices of the nonzero elements, and the elements at these indices.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

namespace pycuda {

/// The indices of all elements that are not zero, in C order: an array of int64 with a row for each
/// axis of `array` (which has at least one) and a column for each place. Waits for the device,
/// since the result's shape is the number of places. Throws UnsupportedTypes for structs.
Array nonzero(const Array &array, StreamRef stream = current_stream());

/// The elements of `values` where `where`, of the same shape, is not zero, in C order and in one
/// axis. Waits for the device like nonzero(). Throws UnsupportedTypes for masks of structs.
Array compress(const Array &values, const Array &where, StreamRef stream = current_stream());

} // namespace pycuda
