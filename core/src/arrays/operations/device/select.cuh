// select.cuh -- finds the elements of given ranks in rows without sorting; partitions rows.
//
// A key is found digit by digit, from the highest digit on. Among the keys with the same first
// digits as the key, the counts of each next digit determine its next digit, and its rank among the
// keys that share this digit too.
//
//     keys 31 22 12 21, rank 1      first digits: 1, 2, 2, 3      it begins with 2 and has rank 0
//                                   then of 22, 21: 1, 2          among 22, 21: it is 21
//
// Many blocks count a long row, and another launch chooses the digit. A short row has one block for
// both. A row is then partitioned at a key: less, equal, greater, each in the original order.
// Blocks first count the tiles of 4096 keys, as in array_nonzero.cpp.
//
// Text before this file: sort_keys.cuh, SELECT_RANKS (the number of ranks), SELECT_UNROLL (a pragma
// for loops over a tile), and SELECT_AHEAD (a thread's loads in flight).
#pragma once

namespace pycuda {

constexpr int select_bits = 11; ///< bits of a digit
constexpr int select_digits = 1 << select_bits;
constexpr int select_width = 8 * sizeof(U);
constexpr int select_warp_keys = 512, select_tile = 8 * select_warp_keys;

struct SelectGeometry {
    long long length, tiles;
    unsigned long long flip; ///< all ones: descending order
    long long rank[SELECT_RANKS];
    int pass;
    int chunk; ///< the part of a row that a block counts
};

/// The known part of a key: its first digits, its rank among the keys with these digits, and the
/// number of keys that are certainly less; at the end also the number of equal keys.
struct Sought {
    unsigned long long key, rank, less, equal;
};

/// The lowest bit of a pass's digit.
__device__ __forceinline__ int shift_of(int pass) {
    const int shift = select_width - select_bits * (pass + 1);
    return shift < 0 ? 0 : shift;
}
__device__ __forceinline__ int digit_bits(int pass) {
    const int left = select_width - select_bits * pass;
    return left < select_bits ? left : select_bits;
}
constexpr int select_passes = (select_width + select_bits - 1) / select_bits;

__device__ __forceinline__ U select_key(U bits, const SelectGeometry &g) {
    return U(encode(bits) ^ U(g.flip));
}

/// Counts digits of keys[from, to) with the threads of a block. In the first pass, all ranks share
/// the counts of the first rank.
__device__ __forceinline__ void count_keys(const U *keys, long long from, long long to,
                                           const U (&begins)[SELECT_RANKS], int pass,
                                           const SelectGeometry &g, unsigned *count) {
    const int shift = shift_of(pass), bits = digit_bits(pass);
    auto add = [&](U stored) {
        const U rest = U(select_key(stored, g) >> shift);
        const int digit = static_cast<int>(rest & U((1 << bits) - 1));
        if (pass == 0) {
            atomicAdd(count + digit, 1u);
            return;
        }
#pragma unroll
        for (int r = 0; r < SELECT_RANKS; ++r)
            if (U(rest >> bits) == begins[r])
                atomicAdd(count + r * select_digits + digit, 1u);
    };
    each_key<SELECT_AHEAD>(keys, from + threadIdx.x, to, sort_threads, add);
}

/// Chooses the next digit of the sought key. Called by all threads of a block; `sought` is shared.
__device__ __forceinline__ void choose_digit(const unsigned *count, int pass, Sought &sought,
                                             unsigned *warp_sums) {
    constexpr int own = select_digits / sort_threads;
    unsigned mine[own], sum = 0;
#pragma unroll
    for (int k = 0; k < own; ++k) {
        mine[k] = count[threadIdx.x * own + k];
        sum += mine[k];
    }
    unsigned before = block_exclusive(sum, warp_sums);
    const Sought known = sought;
    __syncthreads();
    const unsigned rank = static_cast<unsigned>(known.rank);
#pragma unroll
    for (int k = 0; k < own; ++k) {
        if (rank >= before && rank - before < mine[k])
            sought = {known.key << digit_bits(pass) | (threadIdx.x * own + k), known.rank - before,
                      known.less + before, mine[k]};
        before += mine[k];
    }
    __syncthreads();
}

#if defined STAGE_select_count
/// One pass over a part of a row: counts[row][pass][rank][digit], initially zero. Blocks: x parts
/// of a row, y rows.
SORT_KERNEL(const U *keys, const Sought *sought, unsigned *counts, SelectGeometry g) {
    __shared__ unsigned count[SELECT_RANKS * select_digits];
    const int used = (g.pass == 0 ? 1 : SELECT_RANKS) * select_digits;
    for (int i = threadIdx.x; i < used; i += sort_threads)
        count[i] = 0;
    const long long row = blockIdx.y, from = static_cast<long long>(blockIdx.x) * g.chunk;
    U begins[SELECT_RANKS];
#pragma unroll
    for (int r = 0; r < SELECT_RANKS; ++r)
        begins[r] = g.pass == 0 ? U(0) : U(sought[row * SELECT_RANKS + r].key);
    __syncthreads();
    const long long to = from + g.chunk < g.length ? from + g.chunk : g.length;
    count_keys(keys + row * g.length, from, to, begins, g.pass, g, count);
    __syncthreads();
    unsigned *all = counts + (row * select_passes + g.pass) * SELECT_RANKS * select_digits;
    for (int i = threadIdx.x; i < used; i += sort_threads)
        if (count[i] != 0)
            atomicAdd(all + i, count[i]);
}
#elif defined STAGE_select_choose
/// Chooses the digit of one rank of a row in a pass; after the last pass, writes the key if `out`
/// is not null. Blocks: x ranks, y rows.
SORT_KERNEL(const unsigned *counts, Sought *sought, U *out, SelectGeometry g) {
    __shared__ unsigned warp_sums[sort_warps];
    __shared__ Sought here;
    const long long row = blockIdx.y, mine = row * SELECT_RANKS + blockIdx.x;
    if (threadIdx.x == 0) {
        if (g.pass == 0) // `sought` is not yet written
            here = {0, static_cast<unsigned long long>(g.rank[blockIdx.x]), 0, 0};
        else
            here = sought[mine];
    }
    __syncthreads();
    const long long from = g.pass == 0 ? 0 : blockIdx.x;
    choose_digit(counts + ((row * select_passes + g.pass) * SELECT_RANKS + from) * select_digits,
                 g.pass, here, warp_sums);
    if (threadIdx.x != 0)
        return;
    sought[mine] = here;
    if (g.pass == select_passes - 1 && out != nullptr)
        out[mine] = decode(U(U(here.key) ^ U(g.flip)));
}
#elif defined STAGE_select_row
/// All passes over a row. Blocks: rows.
SORT_KERNEL(const U *keys, Sought *sought, U *out, SelectGeometry g) {
    __shared__ unsigned count[SELECT_RANKS * select_digits];
    __shared__ unsigned warp_sums[sort_warps];
    __shared__ Sought here[SELECT_RANKS];
    const long long row = blockIdx.x;
    if (threadIdx.x < SELECT_RANKS)
        here[threadIdx.x] = {0, static_cast<unsigned long long>(g.rank[threadIdx.x]), 0, 0};
#pragma unroll 1
    for (int pass = 0; pass < select_passes; ++pass) {
        for (int i = threadIdx.x; i < SELECT_RANKS * select_digits; i += sort_threads)
            count[i] = 0;
        __syncthreads();
        U begins[SELECT_RANKS];
#pragma unroll
        for (int r = 0; r < SELECT_RANKS; ++r)
            begins[r] = U(here[r].key);
        count_keys(keys + row * g.length, 0, g.length, begins, pass, g, count);
        __syncthreads();
#pragma unroll 1
        for (int r = 0; r < SELECT_RANKS; ++r)
            choose_digit(count + (pass == 0 ? 0 : r) * select_digits, pass, here[r], warp_sums);
    }
    if (threadIdx.x >= SELECT_RANKS)
        return;
    const long long mine = row * SELECT_RANKS + threadIdx.x;
    sought[mine] = here[threadIdx.x];
    if (out != nullptr)
        out[mine] = decode(U(U(here[threadIdx.x].key) ^ U(g.flip)));
}
#else
/// A lane's part of the tile of its block: each 32nd key of its warp.
struct TileParts {
    long long row, first;
    U key;
    int lane, warp;
};

__device__ __forceinline__ TileParts tile_parts(const Sought *sought, const SelectGeometry &g) {
    const long long row = g.tiles == 1 ? blockIdx.x : blockIdx.x / g.tiles;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return {row, (blockIdx.x - row * g.tiles) * select_tile + warp * select_warp_keys + lane,
            U(sought[row].key), lane, warp};
}

/// The number of a warp's keys that are less, and in the upper half of the word, that are greater.
__device__ __forceinline__ unsigned long long count_warp(const U *in, const TileParts &part,
                                                         const SelectGeometry &g) {
    unsigned less = 0, greater = 0;
    SELECT_UNROLL
    for (int k = 0; k < select_warp_keys / 32; ++k) {
        const long long i = part.first + k * 32;
        const U key = i < g.length ? select_key(in[i], g) : part.key;
        less += __popc(__ballot_sync(0xffffffffu, key < part.key));
        greater += __popc(__ballot_sync(0xffffffffu, key > part.key));
    }
    return static_cast<unsigned long long>(greater) << 32 | less;
}

#if defined STAGE_partition_count
/// The counts of each tile of each row.
SORT_KERNEL(const U *keys, const Sought *sought, unsigned long long *counts, SelectGeometry g) {
    __shared__ unsigned long long warps[sort_warps];
    const TileParts part = tile_parts(sought, g);
    const unsigned long long mine = count_warp(keys + part.row * g.length, part, g);
    if (part.lane == 0)
        warps[part.warp] = mine;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    unsigned long long sum = 0;
    for (int w = 0; w < sort_warps; ++w)
        sum += warps[w];
    counts[blockIdx.x] = sum;
}
#else
/// Moves a tile's keys (or, with SORT_PAIRS, their indices) to their parts. `ends`: the running
/// sums of the counts along rows.
SORT_KERNEL(const U *keys, const Sought *sought, const unsigned long long *ends, SELECT_OUT *out,
            SelectGeometry g) {
    __shared__ unsigned long long warps[sort_warps];
    const TileParts part = tile_parts(sought, g);
    const U *in = keys + part.row * g.length;
    const unsigned long long mine = count_warp(in, part, g);
    if (part.lane == 0)
        warps[part.warp] = mine;
    __syncthreads();
    unsigned long long before = blockIdx.x == part.row * g.tiles ? 0 : ends[blockIdx.x - 1];
    for (int w = 0; w < part.warp; ++w)
        before += warps[w];
    const Sought &at = sought[part.row];
    const long long equal_from = static_cast<long long>(at.less);
    const long long greater_from = equal_from + static_cast<long long>(at.equal);
    long long less = static_cast<long long>(before & 0xffffffff);
    long long greater = static_cast<long long>(before >> 32);
    SELECT_OUT *to = out + part.row * g.length;
    const unsigned below = (1u << part.lane) - 1;
    SELECT_UNROLL
    for (int k = 0; k < select_warp_keys / 32; ++k) {
        const long long i = part.first + k * 32;
        const bool there = i < g.length;
        const U stored = there ? in[i] : U(0);
        const U key = there ? select_key(stored, g) : part.key;
        const bool is_less = key<part.key, is_greater = key> part.key;
        const unsigned lesses = __ballot_sync(0xffffffffu, is_less);
        const unsigned greaters = __ballot_sync(0xffffffffu, is_greater);
        const long long less_here = less + __popc(lesses & below);
        const long long greater_here = greater + __popc(greaters & below);
        const long long place = is_less      ? less_here
                                : is_greater ? greater_from + greater_here
                                             : equal_from + i - less_here - greater_here;
        if (there)
            to[place] = static_cast<SELECT_OUT>(SORT_PAIRS ? i : stored);
        less += __popc(lesses);
        greater += __popc(greaters);
    }
}
#endif
#endif

} // namespace pycuda
