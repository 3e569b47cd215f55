// sort_buckets.cuh -- sorts keys by distributing them to buckets that fit the cache, then sorts
// each bucket.
//
// For devices whose threads are the cores of a CPU, like sort_serial.cuh, but only for keys: the
// order of equal keys does not matter, so the highest digits can come first. Each step is one
// launch. Except for Find, blocks have one thread:
//
//     Sample   sorts a sample of the keys
//     Plan     divides the range into buckets
//     Find     finds each key's bucket, with warps, which are a CPU's vectors
//     Count    each chunk counts its keys of each bucket
//     Sum      one thread adds up the counts
//     Move     each chunk moves its keys
//     Finish   one thread sorts each bucket in shared memory, which is in the first levels of
//              the cache
//
// A plan divides the range into cells, whose width is a power of two, and divides cells with many
// keys into as many buckets as needed. Then a look-up in a small table finds a key's bucket:
//
//     keys        0 1 2 . . . 8 9 a b . . . . . .      cells of 4; the third has more
//     buckets     0       1       2 2 3 3 4            bucket = base[key / 4] + key / step[key / 4]
//
// This may leave a bucket with many different keys, if most keys are in a tiny part of the range.
// Then keys of the sample become cuts, and a bucket is found by bisection. Keys equal to a cut have
// their own bucket, so that frequent keys are not sorted.
//
//     Row      one thread sorts each row as a bucket; there are no other steps
//
// A bucket is sorted by two digits, the lower one first, below the highest bit that differs. They
// distinguish almost all keys; the remaining disorder is corrected by insertion when keys are
// written. If that would be too slow, and in buckets that are too large, keys are sorted by all
// bits that differ.
//
// Text before this file: that of sort.cuh, for U, encode() and decode().
#pragma once

namespace pycuda {

enum class BucketStep : int { Sample, Plan, Find, Count, Sum, Move, Finish, Row };

struct BucketGeometry {
    long long length, chunk;
    unsigned long long flip; ///< all ones: descending
    int chunks;
    int targets; ///< the aimed number of buckets, a power of two. There are at most twice as
                 ///< many
    int sample;  ///< keys that a plan is made from
    BucketStep step;
};

/// How a key's bucket is found. In memory, the table follows.
struct BucketPlan {
    unsigned long long low, span; ///< smallest key and width of the range
    int shift;                    ///< width of a cell, in bits
    int bisected;                 ///< whether the table contains cuts
    int buckets, cuts;
};

constexpr int bucket_targets = 2048;
constexpr int bucket_most = 2 * bucket_targets;
constexpr int bucket_table = bucket_targets / 2; ///< maximum number of cells
constexpr int bucket_cuts = bucket_table - 1;
constexpr int bucket_digit_bits = 9;
constexpr int bucket_digits = 1 << bucket_digit_bits;
constexpr int bucket_room = (46 << 10) / sizeof(U); ///< keys that are sorted in shared memory
constexpr int bucket_threads = 256;                 ///< threads of Find

__device__ __forceinline__ int width_of(U bits) {
    return sizeof(U) == 8 ? 64 - __clzll(static_cast<long long>(bits))
                          : 32 - __clz(static_cast<int>(bits));
}

/// A shift by less than the width of a key. The mask makes this explicit, because PTX allows larger
/// shifts.
__device__ __forceinline__ U shifted(U key, int by) { return key >> (by & (8 * sizeof(U) - 1)); }

/// The plan's table: cells, or cuts.
struct BucketTable {
    unsigned cells[bucket_table]; ///< base in the low 16 bits, above it the shift of a key
    U cuts[bucket_cuts];
};

struct FoundPlan {
    BucketPlan plan;
    BucketTable table;
};

__device__ __forceinline__ unsigned bucket_by_cell(U key, const BucketPlan &plan,
                                                   const BucketTable &table) {
    const U low = U(plan.low), span = U(plan.span);
    U at = key > low ? U(key - low) : U(0);
    at = at < span ? at : span;
    const unsigned cell = table.cells[static_cast<unsigned>(shifted(at, plan.shift))];
    return (cell + static_cast<unsigned>(shifted(at, cell >> 16))) & 0xffff;
}

/// Finds the bucket by cuts. Odd buckets contain the keys equal to a cut.
__device__ __forceinline__ unsigned bucket_by_cut(U key, const BucketPlan &plan,
                                                  const BucketTable &table) {
    unsigned at = 0;
#pragma unroll 1
    for (unsigned step = (bucket_cuts + 1) / 2; step != 0; step /= 2)
        at += table.cuts[at + step - 1] <= key ? step : 0;
    at = at < plan.cuts ? at : plan.cuts; // the rest of the table contains the largest key
    return 2 * at - (at != 0 && table.cuts[at - 1] == key ? 1 : 0);
}

/// The begin of the next row's bucket numbers, aligned so that four are read at once; chunks have
/// any length.
__device__ __forceinline__ long long padded(long long length) { return (length + 3) / 4 * 4; }

#if defined STAGE_sort_find_bucket
/// Writes the bucket of each key. Blocks: one for each chunk.
SORT_KERNEL(const U *keys, const FoundPlan *plans, unsigned short *buckets, BucketGeometry g) {
    __shared__ BucketTable table;
    const BucketPlan plan = plans[blockIdx.y].plan;
    const BucketTable &from = plans[blockIdx.y].table;
    const int cells = static_cast<int>(shifted(U(plan.span), plan.shift)) + 1;
#pragma unroll 1
    for (int i = threadIdx.x; i < (plan.bisected ? bucket_cuts : cells); i += bucket_threads) {
        if (plan.bisected)
            table.cuts[i] = from.cuts[i];
        else
            table.cells[i] = from.cells[i];
    }
    __syncthreads();
    keys += blockIdx.y * g.length;
    buckets += blockIdx.y * padded(g.length);
    const U flip = U(g.flip);
    const long long begin = blockIdx.x * g.chunk;
    const long long end = begin + g.chunk < g.length ? begin + g.chunk : g.length;
#pragma unroll 1
    for (long long i = begin + threadIdx.x; i < end; i += bucket_threads) {
        const U key = U(encode(keys[i]) ^ flip);
        const unsigned bucket =
            plan.bisected ? bucket_by_cut(key, plan, table) : bucket_by_cell(key, plan, table);
        buckets[i] = static_cast<unsigned short>(bucket);
    }
}
#endif

/// Replaces each count by the sum of the counts before it.
__device__ __forceinline__ void add_counts(unsigned *counts, int n) {
    unsigned sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
        const unsigned own = counts[i];
        counts[i] = sum;
        sum += own;
    }
}

/// Calls use(i, bucket). Reads four buckets at once, because each access is checked.
template <class Use>
__device__ __forceinline__ void for_found(const unsigned short *buckets, int n, const Use &use) {
    int i = 0;
#pragma unroll 1
    for (; i + 4 <= n; i += 4) {
        const ushort4 found = *reinterpret_cast<const ushort4 *>(buckets + i);
        use(i, found.x);
        use(i + 1, found.y);
        use(i + 2, found.z);
        use(i + 3, found.w);
    }
#pragma unroll 1
    for (; i < n; ++i)
        use(i, buckets[i]);
}

/// Divides the range into cells, and each cell by its number of keys in the sample.
__device__ __forceinline__ void plan_cells(const U *sample, BucketPlan &plan, BucketTable &table,
                                           const BucketGeometry &g) {
    constexpr int share = 10; // keys of the sample in a bucket, at most
    const U flip = U(g.flip), first = U(encode(sample[0]) ^ flip);
    const U last = U(encode(sample[g.sample - 1]) ^ flip);
    const U cells = U(g.targets / 2);
    // Cells begin at multiples of a digit, so that few bits differ within a bucket.
    int shift = width_of(U(last - first)) - width_of(U(cells - 1));
    shift = shift < 0 ? 0 : shift;
    if ((last >> shift) - (first >> shift) >= cells)
        ++shift;
    const U low = first >> shift << shift, span = last - low;
    unsigned next = 0;
    int i = 0, most = 0;
#pragma unroll 1
    for (unsigned cell = 0; cell <= static_cast<unsigned>(span >> shift); ++cell) {
        const int begin = i;
#pragma unroll 1
        while (i < g.sample &&
               static_cast<unsigned>(U((encode(sample[i]) ^ flip) - low) >> shift) == cell)
            ++i;
        int fine = 0;
#pragma unroll 1
        while (fine < shift && (i - begin) >> fine > share)
            ++fine;
        const int step = shift - fine;
        const unsigned base = next - static_cast<unsigned>((U(cell) << shift) >> step);
        table.cells[cell] = static_cast<unsigned>(step) << 16 | (base & 0xffff);
        next += 1u << fine;
        // A bucket with one value needs no sorting, for any number of keys.
        int run = 0;
        U before = 0;
#pragma unroll 1
        for (int k = begin; step != 0 && k < i; ++k) {
            const U at = U((encode(sample[k]) ^ flip) - low) >> step;
            run = k != begin && at == before ? run + 1 : 1;
            before = at;
            most = run > most ? run : most;
        }
    }
    const int limit = g.sample / 64 > 3 * share ? g.sample / 64 : 3 * share;
    plan = {low, span, shift, most > limit, static_cast<int>(next), 0};
}

/// Chooses cuts: keys of the sample at equal distances, without duplicates.
__device__ __forceinline__ void plan_cuts(const U *sample, BucketPlan &plan, U *cuts,
                                          const BucketGeometry &g) {
    const U flip = U(g.flip);
    const int stride = 2 * g.sample / g.targets;
    int used = 0;
#pragma unroll 1
    for (int i = stride; i < g.sample; i += stride) {
        const U cut = U(encode(sample[i]) ^ flip);
        if (used == 0 || cuts[used - 1] != cut)
            cuts[used++] = cut;
    }
    plan.cuts = used;
    plan.buckets = 2 * used + 2;
#pragma unroll 1
    for (; used < bucket_cuts; ++used)
        cuts[used] = U(~U(0));
}

#if defined STAGE_sort_deal_buckets
/// Plan, Count, Sum and Move. Blocks: chunks, but one for Plan and Sum. For Plan, `space` contains
/// the sorted sample. counts[row][bucket][chunk].
SORT_KERNEL(const U *keys, U *space, FoundPlan *plans, const unsigned short *buckets,
            unsigned *counts, BucketGeometry g) {
    __shared__ unsigned next[bucket_most];
    const long long row = blockIdx.y * g.length;
    if (g.step == BucketStep::Plan) {
        FoundPlan &found = plans[blockIdx.y];
        plan_cells(space + row, found.plan, found.table, g);
        if (found.plan.bisected)
            plan_cuts(space + row, found.plan, found.table.cuts, g);
        return;
    }
    const int used = plans[blockIdx.y].plan.buckets, chunk = blockIdx.x;
    counts += static_cast<long long>(blockIdx.y) * 2 * g.targets * g.chunks;
    if (g.step == BucketStep::Sum) {
        add_counts(counts, used * g.chunks);
        return;
    }
    const bool moves = g.step == BucketStep::Move;
#pragma unroll 1
    for (int i = 0; i < used; ++i)
        next[i] = moves ? counts[i * g.chunks + chunk] : 0;
    const long long begin = chunk * g.chunk;
    const int n = static_cast<int>(begin + g.chunk < g.length ? g.chunk : g.length - begin);
    buckets += blockIdx.y * padded(g.length) + begin;
    if (moves) {
        keys += row + begin;
        space += row;
        const U flip = U(g.flip);
        for_found(buckets, n, [&](int i, unsigned bucket) {
            space[next[bucket]++] = U(encode(keys[i]) ^ flip);
        });
        return;
    }
    for_found(buckets, n, [&](int, unsigned bucket) { ++next[bucket]; });
#pragma unroll 1
    for (int i = 0; i < used; ++i)
        counts[i * g.chunks + chunk] = next[i];
}
#endif

/// The shared memory for sorting a bucket.
struct BucketShared {
    unsigned count[2][bucket_digits];
    U keys[2][bucket_room];
};

/// Sixteen bytes of keys. Memory is accessed in such groups, because each access is checked.
struct alignas(16) KeyGroup {
    static constexpr int size = 16 / sizeof(U);
    U key[size];
};

/// The number of keys from i on, KeyGroup::size or one, that one access may cover.
__device__ __forceinline__ int group_at(const U *memory, int i, int n) {
    const bool fits = i + KeyGroup::size <= n;
    return fits && reinterpret_cast<unsigned long long>(memory + i) % 16 == 0 ? KeyGroup::size : 1;
}

/// Calls use(key) for each key.
template <class Use>
__device__ __forceinline__ void for_keys(const U *keys, int n, const Use &use) {
    int i = 0;
#pragma unroll 1
    while (i < n) {
        if (group_at(keys, i, n) == 1) {
            use(keys[i++]);
            continue;
        }
        const KeyGroup in = *reinterpret_cast<const KeyGroup *>(keys + i);
#pragma unroll
        for (int k = 0; k < KeyGroup::size; ++k)
            use(in.key[k]);
        i += KeyGroup::size;
    }
}

__device__ __forceinline__ unsigned bucket_digit(U key, int shift) {
    return static_cast<unsigned>(shifted(key, shift)) & (bucket_digits - 1);
}

/// The bits that differ in some of the keys. There is at least one key.
__device__ __forceinline__ U guess_differing(const U *keys, int n) {
    const int stride = (n + 31) / 32;
    U differing = 0;
#pragma unroll 1
    for (int i = 0; i < n; i += stride)
        differing |= keys[i] ^ keys[0];
    return differing;
}

/// Sorts keys by two digits, the lower of which begins at bit `shift`. Returns false if they differ
/// above these digits.
__device__ __forceinline__ bool sort_in_shared(BucketShared &shared, const U *from, int n,
                                               int shift) {
    const U first = from[0];
    const int above = shift + bucket_digit_bits;
    U differing = 0;
#pragma unroll 1
    for (int digit = 0; digit < bucket_digits; ++digit)
        shared.count[0][digit] = shared.count[1][digit] = 0;
    for_keys(from, n, [&](U key) {
        differing |= key ^ first;
        ++shared.count[0][bucket_digit(key, shift)];
        ++shared.count[1][bucket_digit(key, above)];
    });
    if (shifted(differing, shift) >> (2 * bucket_digit_bits) != 0)
        return false;
    unsigned sums[2] = {0, 0};
#pragma unroll 1
    for (int digit = 0; digit < bucket_digits; ++digit)
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            const unsigned own = shared.count[k][digit];
            shared.count[k][digit] = sums[k];
            sums[k] += own;
        }
    for_keys(from, n,
             [&](U key) { shared.keys[1][shared.count[0][bucket_digit(key, shift)]++] = key; });
#pragma unroll 2
    for (int i = 0; i < n; ++i) {
        const U key = shared.keys[1][i];
        shared.keys[0][shared.count[1][bucket_digit(key, above)]++] = key;
    }
    return true;
}

/// Inserts the keys from `begin` to `end` among the keys before them, which are in order. Keys that
/// move are written again. Subtracts the cost from `work`.
__device__ __forceinline__ void mend(U *keys, U *to, int begin, int end, U flip, long long &work) {
    int lowest = begin;
#pragma unroll 1
    for (int i = begin; i < end && work >= 0; ++i) {
        const U key = keys[i];
        int at = i;
#pragma unroll 1
        for (; at > 0 && keys[at - 1] > key; --at)
            keys[at] = keys[at - 1];
        keys[at] = key;
        work -= i - at;
        lowest = at < lowest ? at : lowest;
    }
#pragma unroll 1
    for (int i = lowest; i < begin; ++i)
        to[i] = decode(U(keys[i] ^ flip));
}

/// Writes keys that are almost in order. Returns false if sorting the rest would take too long.
__device__ __forceinline__ bool write_mended(U *keys, U *to, int n, U flip) {
    long long work = 4ll * n + 1024;
    U last = 0;
    int i = 0;
#pragma unroll 1
    while (i < n) {
        const int many = group_at(to, i, n);
        bool rises = last <= keys[i];
        if (many != 1) {
#pragma unroll
            for (int k = 1; k < KeyGroup::size; ++k)
                rises = rises && keys[i + k - 1] <= keys[i + k];
        }
        if (!rises)
            mend(keys, to, i, i + many, flip, work);
        if (many != 1) {
            KeyGroup out;
#pragma unroll
            for (int k = 0; k < KeyGroup::size; ++k)
                out.key[k] = decode(U(keys[i + k] ^ flip));
            *reinterpret_cast<KeyGroup *>(to + i) = out;
        } else {
            to[i] = decode(U(keys[i] ^ flip));
        }
        i += many;
        last = keys[i - 1];
    }
    return work >= 0;
}

/// Sorts keys by all bits that differ, a digit at a time, and writes the decoded keys. `equal`:
/// whether all keys are known to be equal.
__device__ __forceinline__ void sort_in_memory(BucketShared &shared, U *keys, U *to, int n, U flip,
                                               bool equal) {
    unsigned(&count)[bucket_digits] = shared.count[0];
    const U first = keys[0];
    U differing = 0;
#pragma unroll 1
    for (int i = 0; i < n && !equal; ++i)
        differing |= keys[i] ^ first;
    U *from = keys, *other = to;
    const int top = width_of(differing);
#pragma unroll 1
    for (int shift = width_of(U(differing & (~differing + 1))) - 1; shift >= 0 && shift < top;
         shift += bucket_digit_bits) {
#pragma unroll 1
        for (int digit = 0; digit < bucket_digits; ++digit)
            count[digit] = 0;
#pragma unroll 1
        for (int i = 0; i < n; ++i)
            ++count[bucket_digit(from[i], shift)];
        add_counts(count, bucket_digits);
#pragma unroll 1
        for (int i = 0; i < n; ++i) {
            const U key = from[i];
            other[count[bucket_digit(key, shift)]++] = key;
        }
        U *const sorted = other;
        other = from;
        from = sorted;
    }
#pragma unroll 1
    for (int i = 0; i < n; ++i)
        to[i] = decode(U((equal ? first : from[i]) ^ flip));
}

/// Sorts a bucket's keys, which are overwritten, and writes the decoded keys. `differing`: bits
/// that differ, possibly not all.
__device__ __forceinline__ void finish_bucket(BucketShared &shared, U *from, U *to, int n, U flip,
                                              U differing, bool equal) {
    bool sorted = false;
    if (n <= bucket_room && !equal) {
        const int shift = width_of(differing) - 2 * bucket_digit_bits;
        if (shift > -2 * bucket_digit_bits) // else all keys seem to be equal
            sorted = sort_in_shared(shared, from, n, shift < 0 ? 0 : shift);
    }
    if (!sorted || !write_mended(shared.keys[0], to, n, flip))
        sort_in_memory(shared, from, to, n, flip, equal);
}

/// Takes keys from the whole row, one from each part, at positions without a period.
__device__ __forceinline__ void take_sample(const U *keys, U *sample, const BucketGeometry &g) {
    const long long stretch = g.length / g.sample;
    const unsigned within = stretch < 1 << 24 ? static_cast<unsigned>(stretch) : 1u << 24;
#pragma unroll 1
    for (int i = 0; i < g.sample; ++i) {
        const unsigned chance = static_cast<unsigned>(i + 1) * 2654435769u >> 7;
        sample[i] = U(encode(keys[i * stretch + chance % within]) ^ U(g.flip));
    }
}

/// Encodes keys of memory for comparison. Returns the bits that differ.
__device__ __forceinline__ U encode_keys(const U *keys, U *to, int n, U flip) {
    const U first = U(encode(keys[0]) ^ flip);
    U differing = 0;
    int i = 0;
#pragma unroll 1
    while (i < n) {
        if (group_at(keys, i, n) == 1 || group_at(to, i, n) == 1) {
            const U key = U(encode(keys[i]) ^ flip);
            differing |= key ^ first;
            to[i++] = key;
            continue;
        }
        KeyGroup group = *reinterpret_cast<const KeyGroup *>(keys + i);
#pragma unroll
        for (int k = 0; k < KeyGroup::size; ++k) {
            group.key[k] = U(encode(group.key[k]) ^ flip);
            differing |= group.key[k] ^ first;
        }
        *reinterpret_cast<KeyGroup *>(to + i) = group;
        i += KeyGroup::size;
    }
    return differing;
}

#if defined STAGE_sort_bucket
/// Sample, Finish and Row: the sample of a plan, a bucket and a row are sorted in the same way.
/// Blocks: one, the buckets, or the rows.
SORT_KERNEL(const U *keys, U *result, U *space, const FoundPlan *plans, const unsigned *counts,
            BucketGeometry g) {
    extern __shared__ BucketShared bucket_shared[];
    BucketShared &shared = bucket_shared[0];
    if (g.step == BucketStep::Row) {
        const long long at = blockIdx.x * g.length;
        const int n = static_cast<int>(g.length);
        const U differing = encode_keys(keys + at, space + at, n, U(g.flip));
        finish_bucket(shared, space + at, result + at, n, U(g.flip), differing, false);
        return;
    }
    const long long row = blockIdx.y * g.length;
    counts += static_cast<long long>(blockIdx.y) * 2 * g.targets * g.chunks;
    result += row;
    space += row;
    long long begin = 0, end = g.sample;
    bool equal = false;
    if (g.step == BucketStep::Sample) {
        take_sample(keys + row, space, g);
    } else {
        const BucketPlan &plan = plans[blockIdx.y].plan;
        const int bucket = blockIdx.x, used = plan.buckets;
        if (bucket >= used)
            return;
        begin = counts[bucket * g.chunks];
        end = bucket + 1 < used ? counts[(bucket + 1) * g.chunks] : g.length;
        equal = plan.bisected && bucket % 2 != 0; // to a cut
    }
    if (begin < end) {
        const int n = static_cast<int>(end - begin);
        finish_bucket(shared, space + begin, result + begin, n, U(g.flip),
                      guess_differing(space + begin, n), equal);
    }
}
#endif

} // namespace pycuda
