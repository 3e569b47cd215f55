// array_gather.h -- elements addressed one by one, as by arrays of indices.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <span>

namespace pycuda {

/// One of the axes that elements are chosen along.
struct IndexedAxis {
    const Array *indices; ///< int64; below zero they count from the end
    std::int64_t extent;  ///< of the axis
    std::int64_t stride;  ///< in bytes
};

struct ElementOffsets {
    Array offsets;    ///< int64, in bytes, of the shape of the indices
    int outside = -1; ///< the first axis with an index out of range; -1: none
};

/// The sums over all axes (one at least, whose indices have the same shape) of index times stride.
/// Waits for the device, to learn whether all of them are inside.
ElementOffsets element_offsets(std::span<const IndexedAxis> axes,
                               StreamRef stream = current_stream());

/// out[i] = the element at `base`'s address plus the offset that element_offsets() would give.
/// `out` is contiguous and of the indices' shape. Gives ElementOffsets::outside; unless that is -1,
/// some elements of `out` were not written.
int gather_indexed(const Array &out, const Array &base, std::span<const IndexedAxis> axes,
                   StreamRef stream = current_stream());

/// The element at that place = in[i]. `in` has the indices' shape. Gives ElementOffsets::outside;
/// unless that is -1, nothing was written. Where two places are the same, one of the values stays.
int scatter_indexed(const Array &base, const Array &in, std::span<const IndexedAxis> axes,
                    StreamRef stream = current_stream());

/// out[i] = the element at base[i]'s address plus offsets[i] bytes. `base` and `offsets` (int64)
/// broadcast to the shape of `out`; the caller has checked that all places are inside.
void gather(const Array &out, const Array &base, const Array &offsets,
            StreamRef stream = current_stream());

/// The element at base[i]'s address plus offsets[i] bytes = in[i], for all i of the shape of `in`.
/// Where two places are the same, one of the values stays.
void scatter(const Array &base, const Array &offsets, const Array &in,
             StreamRef stream = current_stream());

} // namespace pycuda
