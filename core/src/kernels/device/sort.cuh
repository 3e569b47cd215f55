// sort.cuh -- radix sort of rows, 8 bits at a time, from the lowest on.
//
// Keys become unsigned numbers of the same order. A pass moves each key to its place by one digit
// and keeps the order of those with the same digit, so that after the last pass all are sorted:
//
//     31 22 12 21     by the last digit:    31 21 22 12     by the first:    12 21 22 31
//
// The digits of all passes are counted once beforehand. In a pass, a block ranks the keys of a tile
// and must know how many keys of each digit the tiles before it have. Each tile publishes its
// counts, then what it and all before it have; a tile adds up what its predecessors published,
// walking back until it meets one that knows the sum (Adinets, Merrill: Onesweep, 2022). Count and
// state are one word: no fence is needed. Tiles are claimed through a counter, so that all before a
// waiting tile have been started.
//
// Before this text: typedefs A (stored keys) and U (unsigned, as wide), SORT_KIND.
#pragma once

namespace pycuda {

enum SortKind { SortUnsigned, SortSigned, SortFloat };

constexpr int sort_threads = 256;
constexpr int sort_digits = 256;
constexpr int sort_passes = sizeof(U);

/// A key as it is sorted. NaN is greater than any number. Where `Equal` is set, zeros of both signs
/// are the same; else -0 comes before 0 and the key says which it was.
template <bool Equal> __device__ __forceinline__ U encode(U bits) {
    constexpr U sign = U(U(1) << (8 * sizeof(U) - 1));
    if (SORT_KIND == SortUnsigned)
        return bits;
    if (SORT_KIND == SortSigned)
        return bits ^ sign;
    if (U(bits & U(~sign)) > U(SORT_INFINITY))
        return U(~U(0));
    if (Equal && bits == sign)
        bits = 0;
    return bits & sign ? U(~bits) : U(bits | sign);
}
__device__ __forceinline__ U decode(U key) {
    constexpr U sign = U(U(1) << (8 * sizeof(U) - 1));
    if (SORT_KIND == SortUnsigned)
        return key;
    if (SORT_KIND == SortSigned)
        return key ^ sign;
    return key & sign ? U(key & U(~sign)) : U(~key);
}

struct SortGeometry {
    long long length, tiles;
    unsigned long long flip; ///< all ones: descending
    int pass;
    int first, last; ///< whether this pass reads, writes what the user has
    int ordered;     ///< the first pass starts with an order that is given
};

__device__ __forceinline__ int digit_of(U key, int pass) {
    return static_cast<int>(key >> (8 * pass)) & (sort_digits - 1);
}

/// The lanes whose digit is the same.
__device__ __forceinline__ unsigned peers_of(int digit) {
    unsigned peers = 0xffffffffu;
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
        const bool set = digit >> bit & 1;
        const unsigned with = __ballot_sync(0xffffffffu, set);
        peers &= set ? with : ~with;
    }
    return peers;
}

/// The sum of `value` over the threads before this one. All 256 threads call it.
template <class T> __device__ T block_exclusive(T value, T *warp_sums) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = value;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const T below = __shfl_up_sync(0xffffffffu, sum, distance);
        if (lane >= distance)
            sum += below;
    }
    if (lane == 31)
        warp_sums[warp] = sum;
    __syncthreads();
    T before = 0;
#pragma unroll
    for (int i = 0; i < sort_threads / 32; ++i)
        if (i < warp)
            before += warp_sums[i];
    __syncthreads();
    return before + sum - value;
}

/// Counts the digits of all passes: counts[row][pass][digit]. Blocks: x within rows, y rows.
template <bool Equal>
__device__ void count_digits(const A *keys, unsigned long long *counts, const SortGeometry &g) {
    __shared__ unsigned count[sort_passes][sort_digits];
    for (int i = threadIdx.x; i < sort_passes * sort_digits; i += sort_threads)
        (&count[0][0])[i] = 0;
    __syncthreads();
    const long long row = blockIdx.y;
    const U *in = reinterpret_cast<const U *>(keys) + row * g.length;
    const long long step = static_cast<long long>(gridDim.x) * sort_threads;
    const long long start = static_cast<long long>(blockIdx.x) * sort_threads + threadIdx.x;
    constexpr int ahead = 4;
    auto add = [&](U bits) {
        const U key = encode<Equal>(bits) ^ U(g.flip);
#pragma unroll
        for (int pass = 0; pass < sort_passes; ++pass)
            atomicAdd(&count[pass][digit_of(key, pass)], 1u);
    };
    long long i = start;
    for (; i + (ahead - 1) * step < g.length; i += ahead * step) {
        U bits[ahead];
#pragma unroll
        for (int k = 0; k < ahead; ++k)
            bits[k] = in[i + k * step];
#pragma unroll
        for (int k = 0; k < ahead; ++k)
            add(bits[k]);
    }
    for (; i < g.length; i += step)
        add(in[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < sort_passes * sort_digits; i += sort_threads)
        if ((&count[0][0])[i] != 0)
            atomicAdd(counts + row * (sort_passes * sort_digits) + i,
                      static_cast<unsigned long long>((&count[0][0])[i]));
}

/// What a block needs to rank a tile.
template <int Items, bool Pairs, class V> struct SortShared {
    static constexpr int tile = Items * sort_threads;
    unsigned counters[sort_threads / 32][sort_digits];
    unsigned offset[sort_digits]; ///< of a digit's first key in the sorted tile
    unsigned sums[sort_threads / 32];
    union {
        U keys[tile];
        V values[Pairs ? tile : 1];
    };
};

/// Ranks the keys, which lie warp by warp, 32 at a time. place[i]: in the sorted tile. Returns how
/// many keys of digit threadIdx.x there are.
template <int Items, class Shared>
__device__ unsigned rank_tile(Shared &shared, const U (&key)[Items], int pass,
                              unsigned (&place)[Items]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned *counter = shared.counters[warp];
    for (int i = lane; i < sort_digits; i += 32)
        counter[i] = 0;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < Items; ++i) {
        const int digit = digit_of(key[i], pass);
        const unsigned peers = peers_of(digit);
        const unsigned below = peers & ((1u << lane) - 1);
        const unsigned base = counter[digit];
        __syncwarp();
        if (below == 0)
            counter[digit] = base + __popc(peers);
        __syncwarp();
        place[i] = base + __popc(below);
    }
    __syncthreads();
    unsigned total = 0; // this thread's digit, over the warps
#pragma unroll
    for (int i = 0; i < sort_threads / 32; ++i) {
        const unsigned own = shared.counters[i][threadIdx.x];
        shared.counters[i][threadIdx.x] = total;
        total += own;
    }
    shared.offset[threadIdx.x] = block_exclusive(total, shared.sums);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Items; ++i) {
        const int digit = digit_of(key[i], pass);
        place[i] += shared.offset[digit] + counter[digit];
    }
    return total;
}

/// One pass over one tile. `states`: a word for each row, tile and digit, and before them the
/// counter of claimed tiles; all zeros at first.
template <int Items, bool Pairs, class V, class W>
__device__ void sort_tile(const void *keys_in, void *keys_out, const void *values_in,
                          void *values_out, const unsigned long long *counts,
                          unsigned long long *states, const SortGeometry &g) {
    using Shared = SortShared<Items, Pairs, V>;
    constexpr W sum_known = W(2) << (8 * sizeof(W) - 2), count_known = W(1) << (8 * sizeof(W) - 2);
    __shared__ Shared shared;
    __shared__ long long start_of[sort_digits]; // where a digit's keys go, less its offset
    __shared__ unsigned long long wide_sums[sort_threads / 32];
    __shared__ unsigned long long claimed;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, digit = threadIdx.x;
    if (threadIdx.x == 0)
        claimed = atomicAdd(states, 1ull);
    __syncthreads();
    const long long number = static_cast<long long>(claimed);
    const long long row = g.tiles == 1 ? number : number / g.tiles, tile = number - row * g.tiles;
    const long long begin = tile * Shared::tile, origin = row * g.length;
    const int valid =
        static_cast<int>(g.length - begin < Shared::tile ? g.length - begin : Shared::tile);
    const int first = warp * (32 * Items) + lane;

    U key[Items];
#pragma unroll
    for (int i = 0; i < Items; ++i) {
        const int at = first + 32 * i;
        key[i] = U(~U(0)); // what lies past the end stays there
        if (at >= valid)
            continue;
        long long from = origin + begin + at;
        if (g.first && g.ordered)
            from = origin + static_cast<const long long *>(values_in)[from];
        key[i] = static_cast<const U *>(keys_in)[from];
        if (g.first)
            key[i] = encode<Pairs>(key[i]) ^ U(g.flip);
    }
    unsigned place[Items];
    unsigned own = rank_tile<Items>(shared, key, g.pass, place);

    volatile W *mine = reinterpret_cast<W *>(states + 1) + number * sort_digits + digit;
    *mine = (tile == 0 ? sum_known : count_known) | W(own);
    W before = 0;
    for (long long back = 1; back <= tile; ++back) {
        W word;
        do
            word = mine[-back * sort_digits];
        while (word < count_known);
        before += word & (count_known - 1);
        if (word >= sum_known)
            break;
    }
    if (tile != 0)
        *mine = sum_known | (before + W(own));
    const unsigned long long smaller =
        block_exclusive(counts[(row * sort_passes + g.pass) * sort_digits + digit], wide_sums);
    start_of[digit] = static_cast<long long>(smaller) + static_cast<long long>(before) -
                      static_cast<long long>(shared.offset[digit]);
#pragma unroll
    for (int i = 0; i < Items; ++i)
        shared.keys[place[i]] = key[i];
    __syncthreads();

    long long to[Items];
#pragma unroll
    for (int i = 0; i < Items; ++i) {
        const int at = i * sort_threads + threadIdx.x;
        const U sorted = shared.keys[at];
        to[i] = origin + start_of[digit_of(sorted, g.pass)] + at;
        if (at < valid && keys_out != nullptr)
            static_cast<U *>(keys_out)[to[i]] = g.last ? decode(sorted ^ U(g.flip)) : sorted;
    }
    if (!Pairs)
        return;
    V value[Items];
#pragma unroll
    for (int i = 0; i < Items; ++i) {
        const int at = first + 32 * i;
        const long long from = origin + begin + at;
        if (at >= valid)
            value[i] = 0;
        else if (!g.first)
            value[i] = static_cast<const V *>(values_in)[from];
        else
            value[i] =
                g.ordered ? V(static_cast<const long long *>(values_in)[from]) : V(begin + at);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Items; ++i)
        shared.values[place[i]] = value[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Items; ++i) {
        const int at = i * sort_threads + threadIdx.x;
        if (at >= valid)
            continue;
        if (g.last)
            static_cast<long long *>(values_out)[to[i]] = static_cast<long long>(shared.values[at]);
        else
            static_cast<V *>(values_out)[to[i]] = shared.values[at];
    }
}

/// All passes over a row that fits a tile, in shared memory. Blocks: one for each row.
template <int Items, bool Pairs>
__device__ void sort_small(const A *keys_in, A *keys_out, const long long *order,
                           long long *values_out, const SortGeometry &g) {
    using Shared = SortShared<Items, Pairs, unsigned>;
    __shared__ Shared shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = warp * (32 * Items) + lane, length = static_cast<int>(g.length);
    const long long origin = static_cast<long long>(blockIdx.x) * g.length;
    U key[Items];
    unsigned value[Items];
#pragma unroll
    for (int i = 0; i < Items; ++i) {
        const int at = first + 32 * i;
        key[i] = U(~U(0));
        value[i] = at;
        if (at >= length)
            continue;
        if (g.ordered)
            value[i] = static_cast<unsigned>(order[origin + at]);
        key[i] = encode<Pairs>(reinterpret_cast<const U *>(keys_in)[origin + value[i]]) ^ U(g.flip);
    }
#pragma unroll 1
    for (int pass = 0; pass < sort_passes; ++pass) {
        unsigned place[Items];
        rank_tile<Items>(shared, key, pass, place);
#pragma unroll
        for (int i = 0; i < Items; ++i)
            shared.keys[place[i]] = key[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < Items; ++i)
            key[i] = shared.keys[first + 32 * i];
        __syncthreads();
        if (!Pairs)
            continue;
#pragma unroll
        for (int i = 0; i < Items; ++i)
            shared.values[place[i]] = value[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < Items; ++i)
            value[i] = shared.values[first + 32 * i];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < Items; ++i) {
        const int at = first + 32 * i;
        if (at >= length)
            continue;
        if (Pairs)
            values_out[origin + at] = static_cast<long long>(value[i]);
        else
            reinterpret_cast<U *>(keys_out)[origin + at] = decode(key[i] ^ U(g.flip));
    }
}

} // namespace pycuda
