// array_sort.h -- sorting along an axis, and finding places in what is sorted.
//
//     Array places = argsort(x, 0);                    // numpy.argsort(x, axis=0, stable=True)
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cstdint>

namespace pycuda {

/// How keys are moved; the results are the same.
enum class SortWay : std::uint8_t {
    Chosen, ///< Serial where the driver takes PTX, so that threads are cores of a CPU; else Blocks
    Blocks, ///< by blocks of threads that rank a tile of keys
    Serial, ///< by single threads that have a row or a large part of one
};

/// How a block finds the places of its keys; the results are the same. See sort.cuh.
enum class SortRanking : std::uint8_t { Chosen, Late, Early, Marks };

/// What a block sorts in a pass by blocks: to find the best on a device. 0 and Chosen: chosen.
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
    StreamRef stream = {};
    SortWay way = SortWay::Chosen;
    SortTile tile = {};
};

/// A new array with the elements sorted along `axis`: bool, integers and floats. NaN is greater
/// than any number, and what NaN it was is not kept; -0 comes before 0. Throws
/// std::invalid_argument for an axis that is not there, UnsupportedTypes for other elements.
Array sort(const Array &in, int axis, const SortOptions &options = {});

/// The places (int64, along `axis`) of the elements in sorted order; equal ones, to which zeros of
/// both signs belong and NaNs among themselves, stay in their order. Throws as sort().
Array argsort(const Array &in, int axis, const SortOptions &options = {});

/// From which side equal elements are met.
enum class SearchSide : std::uint8_t { Left, Right };

/// For each of `values`, of the type of `sorted`, which has one axis and rises (NaN last): how many
/// elements are less (Left), or not greater (Right); int64.
Array search_sorted(const Array &sorted, const Array &values, SearchSide side,
                    StreamRef stream = {});

} // namespace pycuda
