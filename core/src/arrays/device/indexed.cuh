// indexed.cuh -- computes offsets of elements, or copies elements, from arrays of indices.
//
// The text before this file defines:
//
//   ARRAYS, AXES     the number of arrays of indices, and the number of their axes
//   WORDS, Word      the words of an element, and their type
//   OFFSETS, GATHER, SCATTER    1 for one of the tasks: writes the offsets to `dense` (NO_ELEMENT
//                    if an index is outside), writes elements to `dense`, or writes elements of
//                    `dense` (`dense_step` bytes apart).
//                    If all are 0, it only checks the indices, and writes 1 to `dense` if one is
//                    outside
//   SMALL            1 with SCATTER for one thread block, which checks the indices first
//
// All but SCATTER set `outside[k]`, which is host memory, if an index of array k is outside; so
// does a small SCATTER. SCATTER by many blocks runs after a check: its `outside` is the `dense` of
// the check, and it writes nothing if it is 1. If `outside` is null, nothing is reported. Several
// elements in flight in each thread were slower on an H200.
#pragma once

struct Geometry {
    const char *indices[ARRAYS];
    long long size[ARRAYS], step[ARRAYS], n, extent[AXES], stride[AXES][ARRAYS];
};

/// The offset of the element at a place. Sets `outside[k]` if it is not null and index k is out of
/// bounds; the element is then not inside.
__device__ __forceinline__ long long offset_at(long long place, const Geometry &g, int *outside,
                                               bool &inside) {
    long long from[ARRAYS] = {}, offset = 0;
    FOR_EACH_AXIS(place, AXES - 1, g.extent, {
#pragma unroll
        for (int k = 0; k < ARRAYS; ++k)
            from[k] += at * g.stride[axis][k];
    })
#pragma unroll
    for (int k = 0; k < ARRAYS; ++k) {
        long long i = *reinterpret_cast<const long long *>(g.indices[k] + from[k]);
        if (i < 0)
            i += g.size[k];
        if (i < 0 || i >= g.size[k]) {
            if (outside != nullptr)
                outside[k] = 1;
            inside = false;
        }
        offset += i * g.step[k];
    }
    return offset;
}

#if GATHER || SCATTER
__device__ __forceinline__ void copy_element(char *dense, char *base) {
    for (int word = 0; word < WORDS; ++word)
        reinterpret_cast<Word *>(GATHER ? dense : base)[word] =
            reinterpret_cast<const Word *>(GATHER ? base : dense)[word];
}
#endif

#if SMALL
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(char *dense, long long dense_step, int *outside, char *base, Geometry g) {
    bool inside = true;
    for (long long place = threadIdx.x; place < g.n; place += 256)
        offset_at(place, g, outside, inside);
    if (__syncthreads_or(!inside))
        return;
    for (long long place = threadIdx.x; place < g.n; place += 256)
        copy_element(dense + place * dense_step, base + offset_at(place, g, nullptr, inside));
}
#else
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(char *dense, long long dense_step, int *outside, char *base, Geometry g) {
    const long long place = blockIdx.x * 256ll + threadIdx.x;
    if (place >= g.n)
        return;
#if SCATTER
    const bool failed = outside != nullptr && *outside; // the loads of indices do not wait for it
#else
    const bool failed = false;
#endif
    bool inside = true;
    const long long offset = offset_at(place, g, SCATTER ? nullptr : outside, inside);
#if OFFSETS
    reinterpret_cast<long long *>(dense)[place] = inside ? offset : NO_ELEMENT;
#elif GATHER || SCATTER
    if (inside && !failed)
        copy_element(dense + place * dense_step, base + offset);
#else
    if (!inside)
        *reinterpret_cast<int *>(dense) = 1;
#endif
}
#endif
