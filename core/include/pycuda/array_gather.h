// array_gather.h -- gather and scatter: elements at computed addresses, as for index arrays.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <span>

namespace pycuda {

/// One axis that is indexed by an array.
struct IndexedAxis {
    const Array *indices; ///< int64; negative indices count from the end
    std::int64_t extent;  ///< of the axis
    std::int64_t stride;  ///< in bytes
};

/// The result of element_offsets().
struct ElementOffsets {
    Array offsets;    ///< int64, in bytes, of the shape of the indices
    int outside = -1; ///< the first axis with an index out of range; -1: none
};

// These functions wait for the device, because the host must know whether all indices are in range.
// In a capture, they return -1 at once; a launch of the graph that finds an index out of range
// makes the next wait for the launch throw FailedCheck, and accesses no element for such an index.

/// The byte offsets of indexed elements: for each element, the sum over the axes of index * stride.
/// Needs at least one axis; the indices of all axes have the same shape.
ElementOffsets element_offsets(std::span<const IndexedAxis> axes, StreamRef stream);

/// Gathers elements of `base` into `out`: out[i] is the element at the offset that
/// element_offsets() would compute. `out` is contiguous and has the shape of the indices. Returns
/// the value of ElementOffsets::outside; if it is not -1, some elements of `out` were not written.
int gather_indexed(const Array &out, const Array &base, std::span<const IndexedAxis> axes,
                   StreamRef stream);

/// The element at that place = in[i]. `in` has the indices' shape. Gives ElementOffsets::outside;
/// unless that is -1, nothing was written. Waits for the check of the indices only. If two
/// addresses are equal, one of the values stays.
int scatter_indexed(const Array &base, const Array &in, std::span<const IndexedAxis> axes,
                    StreamRef stream);

/// out[i] = the element at base[i]'s address plus offsets[i] bytes. `base` and `offsets` (int64), a
/// result of element_offsets(), broadcast to the shape of `out`.
void gather(const Array &out, const Array &base, const Array &offsets, StreamRef stream);

/// Scatters: the element that is offsets[i] bytes after base[i] becomes in[i]. If several values
/// have the same destination, one of them is kept; which one is unspecified.
void scatter(const Array &base, const Array &offsets, const Array &in, StreamRef stream);

} // namespace pycuda
