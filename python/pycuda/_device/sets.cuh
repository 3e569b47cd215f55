// sets.cuh -- chooses one element of each run of equal ones in a small sorted vector, by one thread
// block.
//
// Defined before this file: using T, the type of the elements; constexpr int threads; constexpr int
// mode, one of the modes below; constexpr bool equal_nan, whether equal NaNs are one run.
//
// A set operation sorts the joined elements of two vectors by a stable sort. In each run, elements
// of the first vector precede those of the second one. `order` has their numbers: those below
// `first_size` are of the first one.
//
//     joined 3 1 3 | 2 3    sorted 1 2 3 3 3    order 1 3 0 2 4    first_size 3
//     distinct 1 2 3    both 3    either 1 2    first_only 1
#pragma once

#include "block_scan.cuh"

enum Mode : int { distinct, both, either, first_only };

// order: nullptr if it is not needed.
struct Sorted {
    const T *elements;
    const long long *order;
    long long size, first_size;
    bool in_order; // whether `elements` are sorted, not those at `order`

    __device__ T value(long long i) const { return elements[in_order ? i : order[i]]; }
    __device__ bool of_first(long long i) const { return order[i] < first_size; }
    /// Whether element i and the next one are in one run.
    __device__ bool joined(long long i) const {
        const T a = value(i), b = value(i + 1);
        if (a == b)
            return true;
        // The other operations treat a NaN of one vector as different from those of the other one.
        return equal_nan && a != a && b != b &&
               (mode == distinct || of_first(i) == of_first(i + 1));
    }
    __device__ bool starts(long long i) const { return i == 0 || !joined(i - 1); }
    __device__ bool ends(long long i) const { return i == size - 1 || !joined(i); }

    __device__ bool is_chosen(long long i) const {
        if (mode == distinct)
            return starts(i);
        if (mode == both)
            return i + 1 < size && of_first(i) && !of_first(i + 1) && joined(i);
        if (mode == first_only)
            return of_first(i) && ends(i);
        return of_first(i) ? ends(i) : starts(i);
    }
};

// values: the chosen elements. index: their places in the vector that was sorted. inverse: for each
// element of that vector, the number of its run. counts: the lengths of the runs. Each of these
// three may be nullptr. Those and `values` have room for all elements. *total: the number of chosen
// elements.
extern "C" __global__ void __launch_bounds__(threads)
    choose(const T *elements, const long long *order, long long size, long long first_size,
           int in_order, T *values, long long *index, long long *inverse, long long *counts,
           long long *total) {
    const Sorted sorted{elements, order, size, first_size, in_order != 0};
    int found = 0;
    for (long long first = 0; first < size; first += threads) {
        const long long i = first + threadIdx.x;
        const bool chosen = i < size && sorted.is_chosen(i);
        int of_tile;
        const int place = found + sum_before(chosen ? 1 : 0, of_tile);
        if (chosen) {
            values[place] = sorted.value(i);
            if (index != nullptr)
                index[place] = order[i];
            if (counts != nullptr)
                counts[place] = i;
        }
        if (inverse != nullptr && i < size)
            inverse[order[i]] = place + (chosen ? 0 : -1);
        found += of_tile;
    }
    if (threadIdx.x == 0)
        *total = found;
    if (counts == nullptr)
        return;
    __syncthreads();
    for (int first = 0; first < found; first += threads) {
        const int k = first + threadIdx.x;
        long long begin = 0, end = 0;
        if (k < found) {
            begin = counts[k];
            end = k + 1 < found ? counts[k + 1] : size;
        }
        __syncthreads();
        if (k < found)
            counts[k] = end - begin;
    }
}
