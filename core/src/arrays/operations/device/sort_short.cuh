// sort_short.cuh -- sorts rows of up to 128 keys, each by neighbouring lanes of a warp.
//
// Lane n has the keys n, n + GROUP, ... Batcher's bitonic sort compares each key with the one whose
// index differs in one bit, and sorts runs of 2, 4, 8 ... keys, alternately rising and falling:
//
//     3 7 4 1    runs of 2: 3 7 | 4 1    runs of 4: 3 1 4 7, then 1 3 4 7
//
// Equal keys are compared by their positions, so the sort is stable. Behind the end of a row is the
// greatest key.
//
// Text before this file: sort_keys.cuh; GROUP, the lanes of a row, a power of two; HELD, the keys
// of a lane, 1 if a row has less than 32 lanes.
#pragma once

namespace pycuda {

struct ShortGeometry {
    unsigned long long flip; ///< all ones: descending
    int length;
    int ordered; ///< the sort starts with a given order
};

/// A key and its position, which is not used if keys alone are sorted.
struct ShortItem {
    LaneKey key;
    int position;

    __device__ __forceinline__ bool is_less(const ShortItem &other) const {
        return SORT_PAIRS && key == other.key ? position < other.position : key < other.key;
    }
    __device__ __forceinline__ ShortItem of_lane(int distance) const {
        return {__shfl_xor_sync(0xffffffffu, key, distance),
                SORT_PAIRS ? __shfl_xor_sync(0xffffffffu, position, distance) : 0};
    }
};

/// One step over all items of a lane: those whose indices differ by `distance` are compared.
__device__ __forceinline__ void compare_at(ShortItem (&item)[HELD], int lane, int run,
                                           int distance) {
    if (distance < GROUP) {
#pragma unroll
        for (int k = 0; k < HELD; ++k) {
            const bool rises = ((k * GROUP + lane) & run) == 0;
            const ShortItem other = item[k].of_lane(distance);
            if (item[k].is_less(other) != (((lane & distance) == 0) == rises))
                item[k] = other;
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        const int partner = k ^ (distance / GROUP);
        if (partner < k || partner >= HELD)
            continue;
        const bool rises = ((k * GROUP + lane) & run) == 0;
        const ShortItem low = item[k], high = item[partner];
        if (low.is_less(high) != rises) {
            item[k] = high;
            item[partner] = low;
        }
    }
}

/// Writes keys, or with SORT_PAIRS their positions. Blocks: groups of rows.
SORT_KERNEL(const U *keys_in, U *keys_out, const long long *order, long long *values_out,
            long long rows, ShortGeometry g) {
    const int lane = threadIdx.x % GROUP;
    const long long row = blockIdx.x * (long long)(sort_threads / GROUP) + threadIdx.x / GROUP;
    const long long origin = row * g.length;
    const int length = row < rows ? g.length : 0;
    ShortItem item[HELD];
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        const int at = k * GROUP + lane;
        item[k] = {~LaneKey(0), at};
        if (at < length) {
            const int from = g.ordered ? static_cast<int>(order[origin + at]) : at;
            item[k].key = U(encode(keys_in[origin + from]) ^ U(g.flip));
        }
    }
#pragma unroll
    for (int run = 2; run <= GROUP * HELD; run *= 2)
#pragma unroll
        for (int distance = run / 2; distance > 0; distance /= 2)
            compare_at(item, lane, run, distance);
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        const int at = k * GROUP + lane;
        if (at >= length)
            continue;
        if (SORT_PAIRS)
            values_out[origin + at] = g.ordered ? order[origin + item[k].position]
                                                : static_cast<long long>(item[k].position);
        else
            keys_out[origin + at] = decode(U(U(item[k].key) ^ U(g.flip)));
    }
}

} // namespace pycuda
