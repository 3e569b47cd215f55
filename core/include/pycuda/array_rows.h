// array_rows.h -- rows of an array that indices select: copied from, assigned to, or combined with.
//
//     take_rows(out, m, {&places})                    out[i] = m[places[i]]
//     put_rows(m, {&places}, in)                      m[places[i]] = in[i]
//     combine_rows(Operation::Add, m, {&places}, in)  m[places[i]] += in[i], once for each i
#pragma once

#include <pycuda/array.h>
#include <pycuda/array_operation.h>
#include <pycuda/stream.h>

#include <cstdint>

namespace pycuda {

/// Indices along the first axis, int32 or int64.
struct RowIndices {
    /// The indices.
    const Array *places;
    /// Whether negative indices count from the end, and an index out of bounds is an error of the
    /// call, which waits for the check. Else rows with a negative index or one out of bounds are
    /// skipped.
    bool checked = true;
};

// In a capture, the functions that check indices wait for nothing and return true. A launch of the
// graph that finds an index out of bounds makes the next wait for the launch throw FailedCheck.

/// Whether put_rows() supports an array: an element of its first axis is a row of contiguous bytes.
[[nodiscard]] bool has_rows(const Array &array) noexcept;

/// `base` may have any strides. `out` is contiguous and has the shape of the indices followed by
/// the shape of a row. Waits for the device if the indices are checked, and not yet known to be in
/// bounds. Returns false if an index is out of bounds; some rows of `out` were then not written.
[[nodiscard]] bool take_rows(const Array &out, const Array &base, RowIndices indices,
                             StreamRef stream);

/// `in` broadcasts to the indices' shape followed by the shape of a row. Waits for the check of the
/// indices only, at most. Returns false if an index is out of bounds; nothing was then written. If
/// two indices are equal, one of their rows is kept; which one is unspecified.
[[nodiscard]] bool put_rows(const Array &base, RowIndices indices, const Array &in,
                            StreamRef stream);

/// Whether combine_rows() supports an operation on elements of a type. It does for operations whose
/// steps may be applied in any order: sums, differences, products, minima, bits ...
[[nodiscard]] bool can_combine_rows(Operation operation, ScalarType type);

/// base[places[i]] = operation(base[places[i]], in[i]) for each i. `base` may have any strides;
/// `in` has its type and broadcasts as for put_rows(). Returns as put_rows(), at once if the
/// indices are not checked.
///
/// The order of the steps is unspecified on a GPU, so sums of floats may differ from run to run in
/// their last bits. Sums of integers, minima and bits do not depend on the order.
[[nodiscard]] bool combine_rows(Operation operation, const Array &base, RowIndices indices,
                                const Array &in, StreamRef stream);

} // namespace pycuda
