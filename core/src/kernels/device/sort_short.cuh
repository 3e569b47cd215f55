// sort_short.cuh -- sorts rows of up to 32 keys, each by as many neighbouring lanes of a warp.
//
// A lane has one key. Batcher's bitonic sort compares each key with that of the lane whose number
// differs in one bit, and sorts runs of 2, 4, 8 ... keys, alternately rising and falling:
//
//     3 7 4 1    runs of 2: 3 7 | 4 1    runs of 4: 3 1 4 7, then 1 3 4 7
//
// Equal keys are compared by their positions, so the sort is stable. Lanes behind the end of a row
// have the greatest key.
//
// Text before this file: sort_keys.cuh; GROUP, the lanes of a row, a power of two.
#pragma once

namespace pycuda {

struct ShortGeometry {
    unsigned long long flip; ///< all ones: descending
    int length;
    int ordered; ///< the sort starts with a given order
};

template <bool wide> struct ShortKeyOf {
    typedef unsigned Type;
};
template <> struct ShortKeyOf<true> {
    typedef unsigned long long Type;
};

/// Writes keys, or with Pairs their positions. Blocks: groups of rows.
template <bool Pairs>
__device__ void sort_short(const U *keys_in, U *keys_out, const long long *order,
                           long long *values_out, long long rows, const ShortGeometry &g) {
    typedef typename ShortKeyOf<(sizeof(U) > 4)>::Type Key; // shuffles have 32 or 64 bits
    constexpr unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % GROUP;
    const long long row = blockIdx.x * (long long)(sort_threads / GROUP) + threadIdx.x / GROUP;
    const long long origin = row * g.length;
    const bool there = row < rows && lane < g.length;
    Key key = ~Key(0);
    int position = lane, value = lane;
    if (there) {
        if (g.ordered)
            value = static_cast<int>(order[origin + lane]);
        key = U(encode<Pairs>(keys_in[origin + value]) ^ U(g.flip));
    }
#pragma unroll
    for (int run = 2; run <= GROUP; run *= 2)
#pragma unroll
        for (int distance = run / 2; distance > 0; distance /= 2) {
            const Key other = __shfl_xor_sync(all, key, distance);
            const int other_position = Pairs ? __shfl_xor_sync(all, position, distance) : 0;
            const bool is_less = Pairs && key == other ? position < other_position : key < other;
            const bool wants_less = ((lane & distance) == 0) == ((lane & run) == 0);
            if (is_less != wants_less) {
                key = other;
                position = other_position;
            }
        }
    if (Pairs)
        value = __shfl_sync(all, value, position, GROUP);
    if (!there)
        return;
    if (Pairs)
        values_out[origin + lane] = value;
    else
        keys_out[origin + lane] = decode(U(U(key) ^ U(g.flip)));
}

} // namespace pycuda
