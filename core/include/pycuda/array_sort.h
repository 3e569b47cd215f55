// array_sort.h -- sorting along an axis, elements of given ranks, and positions in sorted arrays.
//
//     Array places = argsort(x, 0);                    // numpy.argsort(x, axis=0, stable=True)
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <span>

namespace pycuda {

/// How keys are moved; the results are the same.
enum class SortWay : std::uint8_t {
    Chosen, ///< Serial where the driver takes PTX, so that threads are cores of a CPU; else Blocks
    Blocks, ///< by blocks of threads that rank a tile of keys
    Serial, ///< by single threads that have a row or a large part of one
};

/// How a block finds the places of its keys; the results are the same. See sort.cuh.
enum class SortRanking : std::uint8_t { Chosen, Late, Early, Marks };

/// Parameters of a pass by blocks, for tuning. 0 and Chosen: the default of the device.
struct SortTile {
    unsigned items = 0;   ///< keys of a thread, at most 24
    unsigned threads = 0; ///< 256, 384 or 512
    SortRanking ranking = SortRanking::Chosen;
};

struct SortOptions {
    bool descending = false;
    /// For argsort(): an order (int64, of the same shape) in which the elements are taken at first;
    /// equal ones keep it. So keys can be added one by one, the least significant first.
    const Array *order = nullptr;
    StreamRef stream = current_stream();
    SortWay way = SortWay::Chosen;
    SortTile tile = {};
};

/// A new array with the elements sorted along `axis`: bool, integers and floats. NaN is greater
/// than any number, and its payload is lost. -0 is less than 0. Throws std::invalid_argument for an
/// axis that is not there, UnsupportedTypes for other elements.
Array sort(const Array &in, int axis, const SortOptions &options = {});

/// The places (int64, along `axis`) of the elements in sorted order; equal ones, to which zeros of
/// both signs belong and NaNs among themselves, stay in their order. Throws as sort().
Array argsort(const Array &in, int axis, const SortOptions &options = {});

/// The elements whose places in the sorted axis are `ranks` (0: the first), which the axis of the
/// result has in their order. Long axes are not sorted for it: a few passes over them count digits
/// of the keys. Throws as sort(), and std::out_of_range for a rank that is not there.
Array select(const Array &in, int axis, std::span<const std::int64_t> ranks,
             const SortOptions &options = {});

/// A copy in which the element of `rank` along `axis` is where it is when sorted, what sorts before
/// it in front of it and what sorts behind it, behind it. What is not moved past it stays in its
/// order where an axis is long; a short one is sorted. Throws as select().
Array partition(const Array &in, int axis, std::int64_t rank, const SortOptions &options = {});

/// The places (int64) of the elements in the order of partition(), where zeros of both signs are
/// equal, and so are NaNs.
Array argpartition(const Array &in, int axis, std::int64_t rank, const SortOptions &options = {});

/// The position of a value among equal elements: before them (Left) or after them.
enum class SearchSide : std::uint8_t { Left, Right };

/// For each of `values`, of the type of `sorted`, which has one axis and rises (NaN last): how many
/// elements are less (Left), or not greater (Right); int64.
Array search_sorted(const Array &sorted, const Array &values, SearchSide side,
                    StreamRef stream = current_stream());

} // namespace pycuda
