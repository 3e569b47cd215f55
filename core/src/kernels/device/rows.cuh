// rows.cuh -- copies rows that indices select, or checks the indices.
//
// The text before this file defines:
//
//   I            the type of an index
//   Word         the words of a row
//   TAKE, PUT, CHECK    1 for one of the tasks: `dense` gets rows of `base`; `base` gets rows of
//                `dense`; or `dense` becomes 1 if an index is out of bounds
//   ONE          1 if a row has one word
//   WIDE         1 if the number of words needs 64 bits
//
// TAKE and CHECK set `*outside`, which is host memory, if an index is out of bounds. PUT runs after
// CHECK: its `outside` is the `dense` of the check, and it writes nothing if it is 1.
#pragma once

#if WIDE
typedef unsigned long long Count;
#else
typedef unsigned Count;
#endif

// Words of all rows, words of a row; steps in words of `dense` from row to row and within a row.
struct Geometry {
    long long n, words, extent, stride, dense_row, dense_word;
};

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(Word *dense, int *outside, char *base, const I *places, Geometry g) {
    const Count at = Count(blockIdx.x) * 256 + threadIdx.x;
    if (at >= Count(g.n))
        return;
    const Count row = ONE ? at : at / Count(g.words), word = ONE ? 0 : at - row * Count(g.words);
#if PUT
    const bool failed = *outside;
#endif
    long long place = places[row];
    if (place < 0)
        place += g.extent;
    const bool inside = place >= 0 && place < g.extent;
#if TAKE || CHECK
    if (!inside)
        *outside = 1;
#endif
#if CHECK
    if (!inside)
        *reinterpret_cast<int *>(dense) = 1;
#else
    Word *const in_base = reinterpret_cast<Word *>(base + place * g.stride) + word;
#if TAKE
    if (inside)
        dense[at] = *in_base;
#else
    if (!failed)
        *in_base = dense[row * g.dense_row + word * g.dense_word];
#endif
#endif
}
