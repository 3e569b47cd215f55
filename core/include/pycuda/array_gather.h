// array_gather.h -- elements addressed one by one, as by arrays of indices.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

namespace pycuda {

/// out[i] = the element at base[i]'s address plus offsets[i] bytes. `base` and `offsets` (int64)
/// broadcast to the shape of `out`; the caller has checked that all places are inside.
void gather(const Array &out, const Array &base, const Array &offsets, StreamRef stream = {});

/// The element at base[i]'s address plus offsets[i] bytes = in[i], for all i of the shape of `in`.
/// Where two places are the same, one of the values stays.
void scatter(const Array &base, const Array &offsets, const Array &in, StreamRef stream = {});

} // namespace pycuda
