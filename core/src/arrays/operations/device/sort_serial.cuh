// sort_serial.cuh -- the radix sort of sort.cuh for devices with few, fast threads.
//
// If a thread is a core of a CPU, there is no gain from ranking keys in parallel: a thread counts
// and moves the keys of a chunk one after the other. Blocks have one thread. With many rows, one
// thread sorts each row. With few rows, rows are divided into chunks: in each pass, all chunks
// count their digits, one thread adds up the counts, and all chunks move their keys.
#pragma once

namespace pycuda {

/// Like the struct of sort.cuh, but a pass may take more bits, and kernels pass on the counts of
/// chunks: counts[row][digit][chunk].
struct SerialGeometry {
    long long length, chunk, chunks;
    unsigned long long flip;
    int shift, ordered;
};

constexpr int serial_bits = SORT_SERIAL_BITS;
constexpr int serial_digits = 1 << serial_bits;

/// A key in a pass. The first pass reads the user's keys.
template <int Shift> __device__ __forceinline__ U serial_key(U bits, U flip) {
    return Shift == 0 ? U(encode(bits) ^ flip) : bits;
}

template <int Shift> __device__ __forceinline__ unsigned serial_digit(U key) {
    return static_cast<unsigned>(key >> Shift) & (serial_digits - 1);
}

/// The rest of a pass whose shift is a constant for the compiler, which halves the number of
/// instructions.
template <int Shift>
__device__ __forceinline__ void count_chunk(const U *keys, const long long *order, W *count,
                                            long long begin, long long end,
                                            const SerialGeometry &g) {
    const U flip = U(g.flip);
    if (SORT_PAIRS && Shift == 0 && g.ordered) {
#pragma unroll 1
        for (long long i = begin; i < end; ++i)
            ++count[serial_digit<Shift>(serial_key<Shift>(keys[order[i]], flip))];
        return;
    }
#pragma unroll 1
    for (const U *at = keys + begin, *stop = keys + end; at != stop; ++at)
        ++count[serial_digit<Shift>(serial_key<Shift>(*at, flip))];
}

template <int Shift = 0>
__device__ __forceinline__ void count_pass(const U *keys, const long long *order, W *count,
                                           long long begin, long long end,
                                           const SerialGeometry &g) {
    if (g.shift == Shift)
        count_chunk<Shift>(keys, order, count, begin, end, g);
    else if constexpr (Shift + serial_bits < 8 * sizeof(U))
        count_pass<Shift + serial_bits>(keys, order, count, begin, end, g);
}

#if defined STAGE_sort_serial_count
SORT_KERNEL(const U *keys, const long long *order, W *counts, SerialGeometry g) {
    __shared__ W count[serial_digits];
    const long long row = blockIdx.y, begin = blockIdx.x * g.chunk;
    const long long end = begin + g.chunk < g.length ? begin + g.chunk : g.length;
#pragma unroll 1
    for (int digit = 0; digit < serial_digits; ++digit)
        count[digit] = 0;
    if (begin < end)
        count_pass(keys + row * g.length, order + row * g.length, count, begin, end, g);
    counts += row * serial_digits * g.chunks + blockIdx.x;
#pragma unroll 1
    for (int digit = 0; digit < serial_digits; ++digit)
        counts[digit * g.chunks] = count[digit];
}
#elif defined STAGE_sort_serial_sum
SORT_KERNEL(W *counts, SerialGeometry g) {
    counts += blockIdx.x * serial_digits * g.chunks;
    W sum = 0;
#pragma unroll 1
    for (long long i = 0; i < serial_digits * g.chunks; ++i) {
        const W own = counts[i];
        counts[i] = sum;
        sum += own;
    }
}
#endif

template <int Shift>
__device__ __forceinline__ void move_keys(const U *keys, U *keys_out, W *next, long long begin,
                                          long long end, const SerialGeometry &g) {
    constexpr bool last = Shift + serial_bits >= 8 * sizeof(U);
    const U flip = U(g.flip);
#pragma unroll 1
    for (const U *at = keys + begin, *stop = keys + end; at != stop; ++at) {
        const U key = serial_key<Shift>(*at, flip);
        keys_out[next[serial_digit<Shift>(key)]++] = last ? decode(key ^ flip) : key;
    }
}

/// Moves the indices of keys with the keys; those of the last pass are the result.
template <int Shift>
__device__ __forceinline__ void move_pairs(const U *keys, U *keys_out, const void *values,
                                           void *values_out, W *next, long long begin,
                                           long long end, const SerialGeometry &g) {
    constexpr bool first = Shift == 0, last = Shift + serial_bits >= 8 * sizeof(U);
    const U flip = U(g.flip);
#pragma unroll 1
    for (long long i = begin; i < end; ++i) {
        const long long from = first && g.ordered ? static_cast<const long long *>(values)[i] : i;
        const U key = serial_key<Shift>(keys[from], flip);
        const W value = first ? W(from) : static_cast<const W *>(values)[i];
        const W to = next[serial_digit<Shift>(key)]++;
        if (last) {
            static_cast<long long *>(values_out)[to] = static_cast<long long>(value);
        } else {
            static_cast<W *>(values_out)[to] = value;
            keys_out[to] = key;
        }
    }
}

template <int Shift = 0>
__device__ __forceinline__ void move_pass(const U *keys, U *keys_out, const void *values,
                                          void *values_out, W *next, long long begin, long long end,
                                          long long origin, const SerialGeometry &g) {
    constexpr bool first = Shift == 0, last = Shift + serial_bits >= 8 * sizeof(U);
    if (g.shift != Shift) {
        if constexpr (!last)
            move_pass<Shift + serial_bits>(keys, keys_out, values, values_out, next, begin, end,
                                           origin, g);
    } else if constexpr (SORT_PAIRS) {
        const auto *from =
            static_cast<const char *>(values) + origin * (first ? sizeof(long long) : sizeof(W));
        auto *to =
            static_cast<char *>(values_out) + origin * (last ? sizeof(long long) : sizeof(W));
        move_pairs<Shift>(keys, keys_out, from, to, next, begin, end, g);
    } else {
        move_keys<Shift>(keys, keys_out, next, begin, end, g);
    }
}

#if defined STAGE_sort_serial_move
SORT_KERNEL(const U *keys, U *keys_out, const void *values, void *values_out, const W *counts,
            SerialGeometry g) {
    __shared__ W next[serial_digits];
    const long long row = blockIdx.y, begin = blockIdx.x * g.chunk, origin = row * g.length;
    const long long end = begin + g.chunk < g.length ? begin + g.chunk : g.length;
    counts += row * serial_digits * g.chunks + blockIdx.x;
#pragma unroll 1
    for (int digit = 0; digit < serial_digits; ++digit)
        next[digit] = counts[digit * g.chunks];
    if (begin < end)
        move_pass(keys + origin, keys_out + origin, values, values_out, next, begin, end, origin,
                  g);
}
#elif defined STAGE_sort_serial_row
/// One thread sorts a whole row: keys and indices move from [0] to [1] and back. Passes in which
/// all keys have the same digit are skipped. At the end, the decoded keys or the indices are
/// written to the result.
SORT_KERNEL(const U *keys_in, U *result, const long long *order, long long *places, U *key_space,
            W *value_space, SerialGeometry g) {
    constexpr int passes = sizeof(U);
    __shared__ W count[passes][256];
    const long long origin = static_cast<long long>(blockIdx.x) * g.length;
    const long long n = g.length;
    U *from = key_space + 2 * origin, *to = from + n;
    W *value_from = SORT_PAIRS ? value_space + 2 * origin : nullptr, *value_to = value_from + n;
#pragma unroll 1
    for (int i = 0; i < passes * 256; ++i)
        (&count[0][0])[i] = 0;
#pragma unroll 1
    for (long long i = 0; i < n; ++i) {
        const long long place = g.ordered ? order[origin + i] : i;
        const U key = encode(keys_in[origin + place]) ^ U(g.flip);
        from[i] = key;
        if (SORT_PAIRS)
            value_from[i] = W(place);
        for (int pass = 0; pass < passes; ++pass)
            ++count[pass][digit_of(key, pass)];
    }
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        W *next = count[pass];
        if (next[digit_of(from[0], pass)] == W(n))
            continue;
        W sum = 0;
#pragma unroll 1
        for (int digit = 0; digit < 256; ++digit) {
            const W own = next[digit];
            next[digit] = sum;
            sum += own;
        }
#pragma unroll 1
        for (long long i = 0; i < n; ++i) {
            const W at = next[digit_of(from[i], pass)]++;
            to[at] = from[i];
            if (SORT_PAIRS)
                value_to[at] = value_from[i];
        }
        U *const keys = from;
        from = to;
        to = keys;
        W *const values = value_from;
        value_from = value_to;
        value_to = values;
    }
#pragma unroll 1
    for (long long i = 0; i < n; ++i)
        if (SORT_PAIRS)
            places[origin + i] = static_cast<long long>(value_from[i]);
        else
            result[origin + i] = decode(from[i] ^ U(g.flip));
}
#endif

} // namespace pycuda
