// sort.cuh -- radix sort of rows, 8 bits at a time, from the lowest bits on.
//
// Keys are converted to unsigned numbers of the same order. A pass sorts the keys by one digit and
// keeps the order of keys with the same digit, so that all keys are sorted after the last pass:
//
//     31 22 12 21     by the last digit:    31 21 22 12     by the first:    12 21 22 31
//
// The digits of all passes are counted once beforehand. In a pass, a block ranks the keys of a
// tile, and needs the number of keys of each digit in the tiles before it. Each tile publishes its
// counts, then the sums of all counts up to its own. A tile adds up the counts of its predecessors
// backwards until it finds a published sum (Adinets, Merrill: Onesweep, 2022). Count and state are
// in one word, so no fence is needed. Tiles are claimed through a counter, so all tiles before a
// waiting tile have been started.
//
// A tile's counts can be known before its keys are ranked. Early counts first, so that other tiles
// wait less, and ranks while it waits for the words of its predecessors.
//
// Text before this file: sort_keys.cuh.
#pragma once

namespace pycuda {

/// Late: a tile's counts are a result of ranking. Early: they are counted first. Marks: as Early,
/// and lanes find other lanes with the same digit by marks in shared memory instead of votes.
enum class Ranking { Late, Early, Marks };

/// The user's keys and values, and the buffers that passes write in turn, the last pass to [0].
/// Pointers that are not read are null.
struct SortMemory {
    const void *keys, *order;
    void *keys_to[2], *values_to[2];
};

struct SortGeometry {
    long long length, tiles;
    unsigned long long flip; ///< all ones: descending
    int pass;
    int ordered; ///< the first pass starts with a given order
};

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

#if defined STAGE_sort_count
/// Counts the digits of all passes: counts[row][pass][digit]. Blocks: x within rows, y rows.
SORT_KERNEL(const U *keys, unsigned long long *counts, SortGeometry g) {
    __shared__ unsigned count[sort_passes][sort_digits];
    for (int i = threadIdx.x; i < sort_passes * sort_digits; i += sort_threads)
        (&count[0][0])[i] = 0;
    __syncthreads();
    const long long row = blockIdx.y;
    const U *in = keys + row * g.length;
    const long long step = static_cast<long long>(gridDim.x) * sort_threads;
    const long long start = static_cast<long long>(blockIdx.x) * sort_threads + threadIdx.x;
    auto add = [&](U bits) {
        const U key = encode(bits) ^ U(g.flip);
#pragma unroll
        for (int pass = 0; pass < sort_passes; ++pass)
            atomicAdd(&count[pass][digit_of(key, pass)], 1u);
    };
    each_key<4>(in, start, g.length, step, add);
    __syncthreads();
    for (int i = threadIdx.x; i < sort_passes * sort_digits; i += sort_threads)
        if ((&count[0][0])[i] != 0)
            atomicAdd(counts + row * (sort_passes * sort_digits) + i,
                      static_cast<unsigned long long>((&count[0][0])[i]));
}
#elif defined STAGE_sort_plan
/// Chooses the passes for a row: those in which not all keys have the same digit, or else only the
/// last. A bit for each pass. Blocks: rows.
SORT_KERNEL(const unsigned long long *counts, unsigned *plans, SortGeometry g) {
    const long long row = blockIdx.x;
    unsigned plan = 0;
    for (int pass = 0; pass < sort_passes; ++pass) {
        const unsigned long long all = static_cast<unsigned long long>(g.length);
        const unsigned long long *mine = counts + (row * sort_passes + pass) * sort_digits;
        const bool same = threadIdx.x < sort_digits && mine[threadIdx.x] == all;
        if (!__syncthreads_or(same))
            plan |= 1u << pass;
    }
    if (threadIdx.x == 0)
        plans[row] = plan == 0 ? 1u << (sort_passes - 1) : plan;
}
#else
constexpr Ranking ranking = SORT_RANKING;
constexpr int items = SORT_ITEMS, tile_keys = items * sort_threads;

/// The shared memory in which a block ranks and reorders a tile.
struct SortShared {
    unsigned offset[sort_digits]; ///< position of a digit's first key in the sorted tile
    unsigned sums[sort_warps];
    union {
        struct {
            unsigned counters[sort_warps][sort_digits];
            unsigned marks[ranking == Ranking::Marks ? sort_warps : 1][sort_digits];
        };
        U keys[tile_keys];
        W values[SORT_PAIRS ? tile_keys : 1];
    };
};

/// Ranks a warp's keys, 32 at a time. place[i] is counter[digit] plus the number of earlier keys of
/// this digit, and counter[digit] is updated.
__device__ __forceinline__ void rank_warp(unsigned *counter, unsigned *mark, const U (&key)[items],
                                          int pass, unsigned (&place)[items]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < items; ++i) {
        const int digit = digit_of(key[i], pass);
        unsigned peers;
        if (ranking == Ranking::Marks) {
            atomicOr(mark + digit, 1u << lane);
            __syncwarp();
            peers = *static_cast<volatile unsigned *>(mark + digit);
        } else
            peers = peers_of(digit);
        const unsigned below = peers & ((1u << lane) - 1);
        const unsigned base = counter[digit];
        __syncwarp();
        if (below == 0) {
            counter[digit] = base + __popc(peers);
            if (ranking == Ranking::Marks)
                mark[digit] = 0;
        }
        __syncwarp();
        place[i] = base + __popc(below);
    }
}

/// Ranks the keys, which are stored warp by warp, 32 at a time. place[i] is the position in the
/// sorted tile. Calls known(n), where n is the number of keys with digit threadIdx.x, 0 if there is
/// no such digit.
template <class Known>
__device__ void rank_tile(SortShared &shared, const U (&key)[items], int pass,
                          unsigned (&place)[items], const Known &known) {
    constexpr bool late = ranking == Ranking::Late;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own_digit = threadIdx.x;
    unsigned *counter = shared.counters[warp];
    unsigned *mark = shared.marks[ranking == Ranking::Marks ? warp : 0];
    for (int i = lane; i < sort_digits; i += 32) {
        counter[i] = 0;
        if (ranking == Ranking::Marks)
            mark[i] = 0;
    }
    __syncwarp();
    if (late)
        rank_warp(counter, mark, key, pass, place);
    else
#pragma unroll
        for (int i = 0; i < items; ++i)
            atomicAdd(counter + digit_of(key[i], pass), 1u);
    __syncthreads();
    unsigned total = 0; // of this thread's digit, over the warps
    if (own_digit < sort_digits)
#pragma unroll
        for (int i = 0; i < sort_warps; ++i) {
            const unsigned own = shared.counters[i][own_digit];
            shared.counters[i][own_digit] = total;
            total += own;
        }
    known(total);
    const unsigned offset = block_exclusive(total, shared.sums);
    if (own_digit < sort_digits)
        shared.offset[own_digit] = offset;
    __syncthreads();
    if (!late)
        rank_warp(counter, mark, key, pass, place);
#pragma unroll
    for (int i = 0; i < items; ++i) {
        const int digit = digit_of(key[i], pass);
        place[i] += shared.offset[digit] + (late ? counter[digit] : 0);
    }
    __syncthreads(); // before keys overwrite the counters
}

#if defined STAGE_sort_pass
/// The state of a tile's word of a digit: its count, or the sum of all counts up to its own.
constexpr W sum_known = W(2) << (8 * sizeof(W) - 2), count_known = W(1) << (8 * sizeof(W) - 2);

/// The number of keys of a digit in the tiles before this one, from the words that they published
/// at mine[-sort_digits], mine[-2 * sort_digits] ... Several are read at a time.
__device__ __forceinline__ W keys_before(const volatile W *mine, long long tile) {
    constexpr int ahead = 4;
    W before = 0;
    long long back = 1;
    while (true) {
        W word[ahead];
#pragma unroll
        for (int i = 0; i < ahead; ++i)
            word[i] = back + i <= tile ? mine[-(back + i) * sort_digits] : sum_known;
#pragma unroll
        for (int i = 0; i < ahead; ++i) {
            if (word[i] < count_known)
                break; // not published: reads this word and the next ones again
            before += word[i] & (count_known - 1);
            if (word[i] >= sum_known)
                return before;
            ++back;
        }
    }
}

/// One pass over one tile. `states`: the counter of claimed tiles, then a word for each row, tile
/// and digit; initially zero.
SORT_KERNEL(SortMemory memory, const unsigned long long *counts, const unsigned *plans,
            unsigned long long *states, SortGeometry g) {
    if (gridDim.x == g.tiles && !(plans[0] >> g.pass & 1))
        return;
    __shared__ SortShared shared;
    __shared__ long long start_of[sort_digits]; // position in the output, minus the offset
    __shared__ unsigned long long wide_sums[sort_warps];
    __shared__ unsigned long long claimed;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, digit = threadIdx.x;
    if (threadIdx.x == 0)
        claimed = atomicAdd(states, 1ull);
    __syncthreads();
    const long long number = static_cast<long long>(claimed);
    const long long row = g.tiles == 1 ? number : number / g.tiles, tile = number - row * g.tiles;
    const unsigned plan = plans[row];
    if (!(plan >> g.pass & 1))
        return;
    const bool is_first = (plan & ((1u << g.pass) - 1)) == 0;
    const int after = __popc(plan >> g.pass) - 1, to_second = after & 1;
    const void *keys_in = is_first    ? memory.keys
                          : to_second ? memory.keys_to[0]
                                      : memory.keys_to[1];
    void *keys_out = SORT_PAIRS && after == 0 ? nullptr
                     : to_second              ? memory.keys_to[1]
                                              : memory.keys_to[0];
    const void *values_in = is_first    ? memory.order
                            : to_second ? memory.values_to[0]
                                        : memory.values_to[1];
    void *values_out = to_second ? memory.values_to[1] : memory.values_to[0];
    const long long begin = tile * tile_keys, origin = row * g.length;
    const int valid = static_cast<int>(g.length - begin < tile_keys ? g.length - begin : tile_keys);
    const int first = warp * (32 * items) + lane;

    U key[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
        const int at = first + 32 * i;
        key[i] = U(~U(0)); // keys past the end stay there
        if (at >= valid)
            continue;
        long long from = origin + begin + at;
        if (is_first && g.ordered)
            from = origin + static_cast<const long long *>(values_in)[from];
        key[i] = static_cast<const U *>(keys_in)[from];
        if (is_first)
            key[i] = encode(key[i]) ^ U(g.flip);
    }
    unsigned place[items];
    volatile W *mine = reinterpret_cast<W *>(states + 1) + number * sort_digits + digit;
    W own = 0;
    rank_tile(shared, key, g.pass, place, [&](unsigned count) {
        own = W(count);
        if (digit < sort_digits)
            *mine = (tile == 0 ? sum_known : count_known) | own;
    });
    // Writes keys to shared memory while the predecessors' words are being read.
#pragma unroll
    for (int i = 0; i < items; ++i)
        shared.keys[place[i]] = key[i];
    W before = 0;
    if (tile != 0 && digit < sort_digits) {
        before = keys_before(mine, tile);
        *mine = sum_known | (before + own);
    }
    unsigned long long smaller = 0; // keys of the row whose digit is less
    if (digit < sort_digits)
        smaller = counts[(row * sort_passes + g.pass) * sort_digits + digit];
    smaller = block_exclusive(smaller, wide_sums);
    if (digit < sort_digits)
        start_of[digit] = static_cast<long long>(smaller) + static_cast<long long>(before) -
                          static_cast<long long>(shared.offset[digit]);
    __syncthreads();

    long long to[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
        const int at = i * sort_threads + threadIdx.x;
        const U sorted = shared.keys[at];
        to[i] = origin + start_of[digit_of(sorted, g.pass)] + at;
        if (at < valid && keys_out != nullptr)
            static_cast<U *>(keys_out)[to[i]] = after == 0 ? decode(sorted ^ U(g.flip)) : sorted;
    }
    if (!SORT_PAIRS)
        return;
    W value[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
        const int at = first + 32 * i;
        const long long from = origin + begin + at;
        if (at >= valid)
            value[i] = 0;
        else if (!is_first)
            value[i] = static_cast<const W *>(values_in)[from];
        else
            value[i] =
                g.ordered ? W(static_cast<const long long *>(values_in)[from]) : W(begin + at);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; ++i)
        shared.values[place[i]] = value[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; ++i) {
        const int at = i * sort_threads + threadIdx.x;
        if (at >= valid)
            continue;
        if (after == 0)
            static_cast<long long *>(values_out)[to[i]] = static_cast<long long>(shared.values[at]);
        else
            static_cast<W *>(values_out)[to[i]] = shared.values[at];
    }
}

#else
/// Moves the tile's items to their places, through shared memory. A thread has every 32nd item from
/// `first` on.
template <class T>
__device__ __forceinline__ void reorder(T (&moved)[items], const unsigned (&place)[items],
                                        int first, T *shared) {
#pragma unroll
    for (int i = 0; i < items; ++i)
        shared[place[i]] = moved[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; ++i)
        moved[i] = shared[first + 32 * i];
    __syncthreads();
}

/// All passes over a row that fits a tile, in shared memory. Blocks: one for each row.
SORT_KERNEL(const U *keys_in, U *keys_out, const long long *order, long long *values_out,
            SortGeometry g) {
    __shared__ SortShared shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = warp * (32 * items) + lane, length = static_cast<int>(g.length);
    const long long origin = static_cast<long long>(blockIdx.x) * g.length;
    U key[items];
    unsigned value[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
        const int at = first + 32 * i;
        key[i] = U(~U(0));
        value[i] = at;
        if (at >= length)
            continue;
        if (g.ordered)
            value[i] = static_cast<unsigned>(order[origin + at]);
        key[i] = encode(keys_in[origin + value[i]]) ^ U(g.flip);
    }
#pragma unroll 1
    for (int pass = 0; pass < sort_passes; ++pass) {
        unsigned place[items];
        rank_tile(shared, key, pass, place, [](unsigned) {});
        reorder(key, place, first, shared.keys);
        if (SORT_PAIRS)
            reorder(value, place, first, shared.values);
    }
#pragma unroll
    for (int i = 0; i < items; ++i) {
        const int at = first + 32 * i;
        if (at >= length)
            continue;
        if (SORT_PAIRS)
            values_out[origin + at] = static_cast<long long>(value[i]);
        else
            keys_out[origin + at] = decode(key[i] ^ U(g.flip));
    }
}
#endif
#endif

} // namespace pycuda
