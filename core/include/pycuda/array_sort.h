// array_sort.h -- sorting along an axis, elements of given ranks, and positions in sorted arrays.
//
//     Array places = argsort(x, 0);                    // numpy.argsort(x, axis=0, stable=True)
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <span>

namespace pycuda {

/// How sort(), argsort() and select() order the elements.
struct SortOptions {
    /// From the largest element to the smallest.
    bool descending = false;
    /// For argsort(): the initial order of the elements (int64, of the same shape). Equal elements
    /// keep this order. So a sort by several keys is one argsort() for each key, the least
    /// significant key first.
    const Array *order = nullptr;
    GivenStream stream; ///< of the launches
};

/// A new array with the elements sorted along `axis`: bool, integers and floats. NaN is greater
/// than any number, and its payload is lost. -0 is less than 0. Throws std::invalid_argument for an
/// axis out of bounds, UnsupportedTypes for other elements.
Array sort(const Array &in, int axis, const SortOptions &options);

/// The indices (int64, along `axis`) of the elements in sorted order. Equal elements keep their
/// order; 0 and -0 are equal, and all NaNs are equal. Throws like sort().
Array argsort(const Array &in, int axis, const SortOptions &options);

/// The elements with the given ranks along the axis: result[i] is the element at index ranks[i] of
/// the sorted axis. The axis is not sorted: on a GPU, rows of up to 32768 elements (16384 of 8
/// bytes) are searched in registers, and a few passes count the digits of longer ones. Throws like
/// sort(), and std::out_of_range for a rank out of bounds.
Array select(const Array &in, int axis, std::span<const std::int64_t> ranks,
             const SortOptions &options);

/// A partitioned copy: along `axis`, the element at index `rank` is that of the sorted axis,
/// smaller elements are before it and larger elements after it. On a long axis, elements that stay
/// on their side of this element keep their order; a short axis is sorted. Throws like select().
Array partition(const Array &in, int axis, std::int64_t rank, const SortOptions &options);

/// The indices (int64) of the elements in the order of partition(). 0 and -0 are equal, and all
/// NaNs are equal.
Array argpartition(const Array &in, int axis, std::int64_t rank, const SortOptions &options);

/// The position of a value among equal elements: before them (Left) or after them.
enum class SearchSide : std::uint8_t { Left, Right };

/// For each element of `values`: the number of elements of `sorted` that are less (Left) or not
/// greater (Right), as int64. `sorted` has one axis and is in ascending order, NaN last. Both have
/// the same type.
Array search_sorted(const Array &sorted, const Array &values, SearchSide side, StreamRef stream);

/// For edges of bins, which rise or fall: the number of the bin of each value. Of falling edges,
/// counts those that are greater (Right) or not less (Left). Waits for the device, and throws
/// std::invalid_argument for edges that neither rise nor fall, or have a NaN; a launch of recorded
/// work throws FailedCheck.
Array search_edges(const Array &edges, const Array &values, SearchSide side, StreamRef stream);

} // namespace pycuda
