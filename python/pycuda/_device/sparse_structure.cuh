// sparse_structure.cuh -- the positions of the elements of sparse matrices: checks, counts,
// searches.
#pragma once

constexpr int invalid = 1, unsorted = 2, repeated = 4;

/// The first of the sorted values from `low` to `high` that is at least `wanted`.
template <class I> __device__ int lower_bound(const I *sorted, int low, int high, I wanted) {
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (sorted[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Sets the bits above in `found` for the rows and columns of a compressed matrix. A column that is
/// not greater than the one before must begin a row.
extern "C" __global__ void __launch_bounds__(256)
    check_rows(const int *starts, int rows, const int *columns, int count, int wide,
               unsigned *found) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    unsigned state = 0;
    if (i < rows && (starts[i] < 0 || starts[i] > starts[i + 1]))
        state |= invalid;
    if (i == 0 && (starts[0] != 0 || starts[rows] != count))
        state |= invalid;
    if (i < count) {
        const int k = static_cast<int>(i), column = columns[k];
        if (column < 0 || column >= wide)
            state |= invalid;
        if (k > 0 && column <= columns[k - 1]) {
            const int row = lower_bound(starts, 0, rows, k);
            if (starts[row] != k)
                state |= column == columns[k - 1] ? repeated : unsorted;
        }
    }
    if (state)
        atomicOr(found, state);
}

/// As above for elements with a row and a column each; sorted by rows, then by columns.
extern "C" __global__ void __launch_bounds__(256)
    check_coordinates(const int *rows, const int *columns, int count, int high, int wide,
                      unsigned *found) {
    const long long k = blockIdx.x * 256ll + threadIdx.x;
    if (k >= count)
        return;
    const int row = rows[k], column = columns[k];
    unsigned state = row < 0 || row >= high || column < 0 || column >= wide ? invalid : 0;
    if (k > 0) {
        const int row_before = rows[k - 1], column_before = columns[k - 1];
        if (row < row_before || (row == row_before && column < column_before))
            state |= unsorted;
        if (row == row_before && column == column_before)
            state |= repeated;
    }
    if (state)
        atomicOr(found, state);
}

/// starts[i], for i up to `groups`: the number of the sorted keys that are less than i.
extern "C" __global__ void __launch_bounds__(256)
    find_starts(const int *keys, int count, int *starts, int groups) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i <= groups)
        starts[i] = lower_bound(keys, 0, count, static_cast<int>(i));
}

/// The row of each element. A block processes 1024 elements, and searches the rows that contain
/// them.
extern "C" __global__ void __launch_bounds__(256)
    find_rows(const int *starts, int rows, int *row_of, int count) {
    __shared__ int ends[2];
    const long long first = blockIdx.x * 1024ll;
    const int last = first + 1024 < count ? static_cast<int>(first) + 1023 : count - 1;
    if (threadIdx.x < 2)
        ends[threadIdx.x] =
            lower_bound(starts, 0, rows, (threadIdx.x ? last : static_cast<int>(first)) + 1);
    __syncthreads();
    for (long long k = first + threadIdx.x; k <= last; k += 256)
        row_of[k] = lower_bound(starts, ends[0], ends[1], static_cast<int>(k) + 1) - 1;
}

// Groups elements by keys if threads are a CPU's cores: a block of one thread processes the keys
// from groups * i / blocks on.

extern "C" __global__ void __launch_bounds__(1)
    count_keys(const int *keys, int count, int *counts, int groups) {
    const int low = static_cast<int>((long long)groups * blockIdx.x / gridDim.x);
    const int high = static_cast<int>((long long)groups * (blockIdx.x + 1) / gridDim.x);
    const unsigned width = high - low;
    counts += low;
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
        const unsigned key = keys[k] - low;
        if (key < width)
            ++counts[key];
    }
}

/// Appends elements to those with the same key, in the order of `before` unless it is null.
extern "C" __global__ void __launch_bounds__(1)
    order_keys(const int *keys, const int *before, int count, int *next, int *order, int groups) {
    const int low = static_cast<int>((long long)groups * blockIdx.x / gridDim.x);
    const int high = static_cast<int>((long long)groups * (blockIdx.x + 1) / gridDim.x);
    const unsigned width = high - low;
    next += low;
    if (before != nullptr) {
#pragma unroll 1
        for (int k = 0; k < count; ++k) {
            const unsigned key = keys[before[k]] - low;
            if (key < width)
                order[next[key]++] = before[k];
        }
        return;
    }
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
        const unsigned key = keys[k] - low;
        if (key < width)
            order[next[key]++] = k;
    }
}

/// Copies the positions of elements: rows chosen[i] become rows i, which begin at starts[i].
extern "C" __global__ void __launch_bounds__(256)
    choose_rows(const int *old_starts, const int *chosen, const int *starts, const int *row_of,
                int *places, int count) {
    const long long k = blockIdx.x * 256ll + threadIdx.x;
    if (k >= count)
        return;
    const int row = row_of[k];
    places[k] = old_starts[chosen[row]] + static_cast<int>(k) - starts[row];
}
