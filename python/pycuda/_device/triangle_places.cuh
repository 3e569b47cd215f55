// triangle_places.cuh -- the indices of the elements of a triangle of a matrix, in C order.
//
// A row's first element is known by a formula: before(row) is the number of elements in the rows
// above it. A thread finds the row of its element by bisection.
#pragma once

// The sum of min(max(v, 0), most) for all v below `end`.
__device__ __forceinline__ long long sum_below(long long end, long long most) {
    if (end <= 0)
        return 0;
    return end <= most ? end * (end - 1) / 2 : most * (most - 1) / 2 + (end - most) * most;
}

// below: the elements at and below diagonal k, else those at and above it.
extern "C" __global__ void __launch_bounds__(256)
    triangle_places(long long *row_of, long long *column_of, long long total, long long rows,
                    long long columns, long long k, int below) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= total)
        return;
    const long long shift = below ? k + 1 : k, start = sum_below(shift, columns);
    const auto before = [&](long long row) {
        const long long left = sum_below(row + shift, columns) - start;
        return below ? left : row * columns - left;
    };
    long long low = 0, high = rows - 1; // the last row that starts at or before i
    while (low < high) {
        const long long middle = (low + high + 1) / 2;
        if (before(middle) <= i)
            low = middle;
        else
            high = middle - 1;
    }
    row_of[i] = low;
    const long long first = below ? 0 : min(max(low + k, 0ll), columns);
    column_of[i] = first + i - before(low);
}
