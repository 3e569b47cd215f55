// fused_rows.cuh -- how the kernel of fused reductions finds its rows and elements.
//
// The generated text before this file defines Index, Geometry, and
//
//   TEAM                      threads of a row: 1, 32, 256, or 8 with TEAM_COLUMNS
//   TEAM_COLUMNS              1 if neighbouring threads have neighbouring rows
//   UNROLL                    how many elements of a thread are in flight
#pragma once

/// The index of an element along each axis.
template <int axes> struct Place {
    Index i[axes];
};
template <int axes>
__device__ __forceinline__ Place<axes> place_of(Index number, const Index (&extents)[axes]) {
    Place<axes> place;
#pragma unroll
    for (int axis = axes - 1; axis > 0; --axis) {
        const Index whole = number / extents[axis];
        place.i[axis] = number - whole * extents[axis];
        number = whole;
    }
    place.i[0] = number;
    return place;
}

#if TEAM_COLUMNS
#define ROWS_OF_BLOCK 32
#define ROW_OF_BLOCK int(threadIdx.x & 31)
#define LANE int(threadIdx.x >> 5)
#else
#define ROWS_OF_BLOCK (256 / TEAM)
#define ROW_OF_BLOCK int(threadIdx.x / TEAM)
#define LANE int(threadIdx.x % TEAM)
#endif
