// compact.h -- arrays as kernels want them that know nothing of strides.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

namespace pycuda {

/// In C order without gaps, aligned: the array itself, or a copy made on `stream`.
[[nodiscard]] Array compact(const Array &array, StreamRef stream);

} // namespace pycuda
