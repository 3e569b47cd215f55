// sort_serial.cuh -- the radix sort of sort.cuh for devices whose threads are fast and few.
//
// Where a thread is a core of a CPU, nothing is gained from ranking keys side by side: a thread
// counts and moves the keys of a chunk one after the other. Blocks have one thread. Many rows: a
// thread has a row. Few: rows are cut into chunks, in each pass all chunks count their digits, one
// thread adds the counts up, and all chunks move their keys.
#pragma once

namespace pycuda {

/// As sort.cuh has them, but a pass may take more bits, and what goes from kernel to kernel is the
/// chunks' counts: counts[row][digit][chunk].
struct SerialGeometry {
    long long length, chunk, chunks;
    unsigned long long flip;
    int shift, first, last, ordered;
};

constexpr int serial_bits = SORT_SERIAL_BITS;
constexpr int serial_digits = 1 << serial_bits;

template <bool Pairs> __device__ __forceinline__ U serial_key(U bits, bool first, U flip) {
    return first ? U(encode<Pairs>(bits) ^ flip) : bits;
}

template <bool Pairs, class W>
__device__ void serial_count(const U *keys, const long long *order, W *counts,
                             const SerialGeometry &g) {
    __shared__ W count[serial_digits];
    const long long row = blockIdx.y, begin = blockIdx.x * g.chunk;
    const long long end = begin + g.chunk < g.length ? begin + g.chunk : g.length;
    for (int digit = 0; digit < serial_digits; ++digit)
        count[digit] = 0;
    keys += row * g.length;
    const bool first = g.first, ordered = g.first && g.ordered;
    if (ordered)
        order += row * g.length;
    for (long long i = begin; i < end; ++i) {
        const U key = serial_key<Pairs>(keys[ordered ? order[i] : i], first, U(g.flip));
        ++count[static_cast<unsigned>(key >> g.shift) & (serial_digits - 1)];
    }
    counts += row * serial_digits * g.chunks + blockIdx.x;
    for (int digit = 0; digit < serial_digits; ++digit)
        counts[digit * g.chunks] = count[digit];
}

template <class W> __device__ void serial_sum(W *counts, const SerialGeometry &g) {
    counts += blockIdx.x * serial_digits * g.chunks;
    W sum = 0;
    for (long long i = 0; i < serial_digits * g.chunks; ++i) {
        const W own = counts[i];
        counts[i] = sum;
        sum += own;
    }
}

template <bool Pairs, class W>
__device__ void serial_move(const U *keys, U *keys_out, const void *values, void *values_out,
                            const W *counts, const SerialGeometry &g) {
    __shared__ W next[serial_digits];
    const long long row = blockIdx.y, begin = blockIdx.x * g.chunk, origin = row * g.length;
    const long long end = begin + g.chunk < g.length ? begin + g.chunk : g.length;
    counts += row * serial_digits * g.chunks + blockIdx.x;
    for (int digit = 0; digit < serial_digits; ++digit)
        next[digit] = counts[digit * g.chunks];
    keys += origin;
    keys_out += origin;
    const bool first = g.first, last = g.last, ordered = first && g.ordered;
    const auto *order = static_cast<const long long *>(values) + origin;
    for (long long i = begin; i < end; ++i) {
        const long long from = ordered ? order[i] : i;
        const U key = serial_key<Pairs>(keys[from], first, U(g.flip));
        const W to = next[static_cast<unsigned>(key >> g.shift) & (serial_digits - 1)]++;
        if (!Pairs) {
            keys_out[to] = last ? decode(key ^ U(g.flip)) : key;
            continue;
        }
        const W value = first ? W(from) : static_cast<const W *>(values)[origin + i];
        if (last)
            static_cast<long long *>(values_out)[origin + to] = static_cast<long long>(value);
        else {
            static_cast<W *>(values_out)[origin + to] = value;
            keys_out[to] = key;
        }
    }
}

/// A whole row by one thread: keys and places go from [0] to [1] and back; passes in which all keys
/// have the same digit are left out. At last decoded keys or places are written to the result.
template <bool Pairs, class W>
__device__ void serial_row(const U *keys_in, U *result, const long long *order, long long *places,
                           U *key_space, W *value_space, const SerialGeometry &g) {
    constexpr int passes = sizeof(U);
    __shared__ W count[passes][256];
    const long long origin = static_cast<long long>(blockIdx.x) * g.length;
    const long long n = g.length;
    U *from = key_space + 2 * origin, *to = from + n;
    W *value_from = Pairs ? value_space + 2 * origin : nullptr, *value_to = value_from + n;
    for (int i = 0; i < passes * 256; ++i)
        (&count[0][0])[i] = 0;
    for (long long i = 0; i < n; ++i) {
        const long long place = g.ordered ? order[origin + i] : i;
        const U key = encode<Pairs>(keys_in[origin + place]) ^ U(g.flip);
        from[i] = key;
        if (Pairs)
            value_from[i] = W(place);
        for (int pass = 0; pass < passes; ++pass)
            ++count[pass][digit_of(key, pass)];
    }
    for (int pass = 0; pass < passes; ++pass) {
        W *next = count[pass];
        if (next[digit_of(from[0], pass)] == W(n))
            continue;
        W sum = 0;
        for (int digit = 0; digit < 256; ++digit) {
            const W own = next[digit];
            next[digit] = sum;
            sum += own;
        }
        for (long long i = 0; i < n; ++i) {
            const W at = next[digit_of(from[i], pass)]++;
            to[at] = from[i];
            if (Pairs)
                value_to[at] = value_from[i];
        }
        U *const keys = from;
        from = to;
        to = keys;
        W *const values = value_from;
        value_from = value_to;
        value_to = values;
    }
    for (long long i = 0; i < n; ++i)
        if (Pairs)
            places[origin + i] = static_cast<long long>(value_from[i]);
        else
            result[origin + i] = decode(from[i] ^ U(g.flip));
}

} // namespace pycuda
