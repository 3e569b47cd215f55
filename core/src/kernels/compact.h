// compact.h -- makes arrays contiguous for kernels that do not support strides.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

namespace pycuda {

/// The array itself if it is C-contiguous and aligned, else a contiguous copy that is made in
/// `stream`.
[[nodiscard]] Array compact(const Array &array, StreamRef stream);

} // namespace pycuda
