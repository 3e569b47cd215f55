// rows.cuh -- copies rows that indices select, or checks the indices.
//
// The text before this file defines:
//
//   I            the type of an index
//   Word         the words of a row
//   TAKE, PUT, CHECK    1 for one of the tasks: `dense` gets rows of `base`; `base` gets rows of
//                `dense`; or `dense` becomes 1 if an index is out of bounds
//   ONE          1 if a row has one word
//   Count        the type of the number of words
//   AXES         0 if the words of a row of `base` are contiguous; with TAKE, the number of axes
//                along which they have strides
//   SMALL        1 with PUT for one thread block, which checks the indices first
//
// TAKE, CHECK and a small PUT set `*outside`, which is host memory, if an index is out of bounds. A
// PUT by many blocks runs after CHECK: its `outside` is the `dense` of the check, and it writes
// nothing if it is 1. If `outside` is null, the indices are not checked: those out of bounds are
// skipped.
#pragma once

// Words of all rows, words of a row; steps in words of `dense` from row to row and within a row.
struct Geometry {
    long long n, words, extent, stride, dense_row, dense_word;
    long long wrap; // whether negative indices count from the end
#if AXES
    long long extents[AXES], strides[AXES]; // of a row of `base`, in words and in bytes
#endif
};

#if SMALL
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(Word *dense, int *outside, char *base, const I *places, Geometry g) {
    bool wrong = false;
    for (Count row = threadIdx.x; row < Count(g.n / g.words); row += 256)
        wrong = wrong || places[row] < -g.extent || places[row] >= g.extent;
    if (__syncthreads_or(wrong)) {
        if (threadIdx.x == 0 && outside != nullptr)
            *outside = 1;
        return;
    }
    for (Count at = threadIdx.x; at < Count(g.n); at += 256) {
        const Count row = ONE ? at : at / Count(g.words),
                    word = ONE ? 0 : at - row * Count(g.words);
        const long long place = places[row] < 0 ? places[row] + g.extent : places[row];
        reinterpret_cast<Word *>(base + place * g.stride)[word] =
            dense[row * g.dense_row + word * g.dense_word];
    }
}
#else
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(Word *dense, int *outside, char *base, const I *places, Geometry g) {
    const Count at = Count(blockIdx.x) * 256 + threadIdx.x;
    if (at >= Count(g.n))
        return;
    const Count row = ONE ? at : at / Count(g.words), word = ONE ? 0 : at - row * Count(g.words);
#if PUT
    const bool failed = outside != nullptr && *outside;
#endif
    long long place = places[row];
    if (place < 0 && g.wrap)
        place += g.extent;
    const bool inside = place >= 0 && place < g.extent;
#if TAKE || CHECK
    if (!inside && outside != nullptr)
        *outside = 1;
#endif
#if CHECK
    if (!inside)
        *reinterpret_cast<int *>(dense) = 1;
#else
#if AXES
    FOR_EACH_AXIS(word, AXES - 1, g.extents, base += at * g.strides[axis])
    Word *const in_base = reinterpret_cast<Word *>(base + place * g.stride);
#else
    Word *const in_base = reinterpret_cast<Word *>(base + place * g.stride) + word;
#endif
#if TAKE
    if (inside)
        dense[at] = *in_base;
#else
    if (inside && !failed)
        *in_base = dense[row * g.dense_row + word * g.dense_word];
#endif
#endif
}
#endif
