// select_held.cuh -- finds the elements of given ranks in rows that the registers of a group of
// threads hold, in one pass over memory.
//
// A key is found bit by bit, from the highest bit on: it is the greatest number that at most `rank`
// keys are below.
//
//     keys 31 22 12 21, rank 1      below 16: one key, so it is at least 16
//                                   below 24: three keys, so it is below 24
//                                   below 20: one, below 22: two, below 21: one: it is 21
//
// Each step counts the keys below a number. The count does not depend on how the keys are
// distributed, while digits counted by atomic operations wait for each other if many keys share
// one. The first step is after the bits that the least and the greatest key share. The key after
// a known one, and the ends of the row, take one step.
//
// Text before this file: sort_keys.cuh; HELD, the keys of a thread; GROUP, the threads of a row: a
// power of two up to 32, or those of the block.
#pragma once

namespace pycuda {

constexpr int held_most_ranks = 5, held_warps = GROUP > 32 ? GROUP / 32 : 1;
constexpr int held_lanes = GROUP > 32 ? 32 : GROUP; ///< of a warp, for one row

struct HeldGeometry {
    long long length, rows;
    unsigned long long flip; ///< all ones: descending order
    long long rank[held_most_ranks];
    int ranks;
};

struct HeldLess {
    template <class V> __device__ static V join(V a, V b) { return a < b ? a : b; }
};
struct HeldGreater {
    template <class V> __device__ static V join(V a, V b) { return a > b ? a : b; }
};
struct HeldSum {
    template <class V> __device__ static V join(V a, V b) { return a + b; }
};

/// Joins the values of `lanes` neighbouring lanes; all of them get the result. The rows of a warp
/// take different numbers of steps, so the lanes of a row wait for each other only.
template <class Step, int lanes, class V> __device__ __forceinline__ V join_lanes(V value) {
    const unsigned mine = (held_lanes == 32 ? ~0u : (1u << held_lanes) - 1)
                          << (threadIdx.x % 32 / held_lanes * held_lanes);
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value = Step::join(value, V(__shfl_xor_sync(mine, value, distance)));
    return value;
}

/// Joins values of the group's threads. Two places in shared memory take turns, so one barrier for
/// each call is enough.
struct HeldGroup {
    unsigned long long (*place)[held_warps];
    int turn;

    template <class Step, class V> __device__ __forceinline__ V join(V value) {
        value = join_lanes<Step, held_lanes>(value);
        if (held_warps == 1)
            return value;
        turn ^= 1;
        if (threadIdx.x % 32 == 0)
            place[turn][threadIdx.x / 32] = value;
        __syncthreads();
        return join_lanes<Step, held_warps>(V(place[turn][threadIdx.x % held_warps]));
    }
};

/// The keys of a row: thread t has those with the indices t, t + GROUP, ...
struct HeldRow {
    LaneKey key[HELD]; ///< behind the end of the row, the greatest number
    LaneKey least, greatest;
    HeldGroup group;

    __device__ __forceinline__ int count_below(LaneKey limit) {
        int count = 0;
#pragma unroll
        for (int k = 0; k < HELD; ++k)
            count += key[k] < limit;
        return group.join<HeldSum>(count);
    }
    __device__ __forceinline__ LaneKey least_above(LaneKey limit) {
        LaneKey found = ~LaneKey(0);
#pragma unroll
        for (int k = 0; k < HELD; ++k)
            found = key[k] > limit && key[k] < found ? key[k] : found;
        return group.join<HeldLess>(found);
    }
    __device__ __forceinline__ LaneKey search(int rank) {
        const LaneKey differing = least ^ greatest;
        if (differing == 0)
            return least;
        const int top = sizeof(LaneKey) > 4 ? 63 - __clzll(differing) : 31 - __clz(differing);
        LaneKey found = greatest & ~(((LaneKey(1) << top) - 1) | LaneKey(1) << top);
#pragma unroll 1
        for (int bit = top; bit >= 0; --bit) {
            const LaneKey trial = found | LaneKey(1) << bit;
            if (count_below(trial) <= rank)
                found = trial;
        }
        return found;
    }
};

/// Writes the keys of all ranks of each row, out[row][rank]. Blocks: rows, or groups of rows.
SORT_KERNEL(const U *keys, U *out, HeldGeometry g) {
    __shared__ unsigned long long place[2][held_warps];
    const long long row = blockIdx.x * (long long)(sort_threads / GROUP) + threadIdx.x / GROUP;
    if (GROUP <= 32 && row >= g.rows)
        return;
    const int mine = threadIdx.x % GROUP, length = int(g.length);
    const U *const from = keys + row * g.length;
    HeldRow held;
    held.group = {place, 0};
    LaneKey least = ~LaneKey(0), greatest = 0;
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        const int i = mine + k * GROUP;
        held.key[k] = ~LaneKey(0);
        if (i < length) {
            held.key[k] = U(encode(from[i]) ^ U(g.flip));
            least = held.key[k] < least ? held.key[k] : least;
            greatest = held.key[k] > greatest ? held.key[k] : greatest;
        }
    }
    held.least = held.group.join<HeldLess>(least);
    held.greatest = held.group.join<HeldGreater>(greatest);
    LaneKey found = 0;
#pragma unroll 1
    for (int r = 0; r < g.ranks; ++r) {
        const int rank = int(g.rank[r]);
        if (rank == length - 1) {
            found = held.greatest;
        } else if (rank == 0) {
            found = held.least;
        } else if (r > 0 && g.rank[r] == g.rank[r - 1]) {
            // the same key
        } else if (r > 0 && g.rank[r] == g.rank[r - 1] + 1) {
            if (held.count_below(found + 1) <= rank)
                found = held.least_above(found);
        } else {
            found = held.search(rank);
        }
        if (mine == 0)
            out[row * g.ranks + r] = decode(U(U(found) ^ U(g.flip)));
    }
}

} // namespace pycuda
