// irregular.cpp -- sorting, scanning, counting, sparse rows.
#include "hand_written.h"
#include "vectors.h"

#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <omp.h>

using namespace vectors;

// Four tables, so that adjacent equal bytes do not wait for each other's store.
void histogram(const unsigned char *data, unsigned *bins, int n) {
#pragma omp parallel
    {
        unsigned mine[4][256] = {};
#pragma omp for schedule(dynamic, 32768) nowait
        for (int i = 0; i < n; i += 8) {
            auto bytes = load<std::uint64_t>(data + i);
            for (int k = 0; k < 8; ++k)
                ++mine[k % 4][(bytes >> (8 * k)) & 255];
        }
#pragma omp critical
        for (int bin = 0; bin < 256; ++bin)
            bins[bin] += mine[0][bin] + mine[1][bin] + mine[2][bin] + mine[3][bin];
    }
}

namespace {

inline Words lower(Words a, Words b) { return a < b ? a : b; }
inline Words higher(Words a, Words b) { return a < b ? b : a; }

// One step of the bitonic network inside a vector: sorts pairs of lanes at distance `stride`,
// upwards if bit `size` of the lane is 0. For sizes above the vector's width, `down` decides.
template <int size, int stride> inline Words step_inside(Words keys, int down) {
    Words partner_of;
    Ints takes_lower;
    for (int lane = 0; lane < kWidth; ++lane) {
        partner_of[lane] = static_cast<unsigned>(lane ^ stride);
        bool upwards = (lane & size) == 0 || size >= kWidth;
        takes_lower[lane] = ((lane & stride) == 0) == upwards ? -1 : 0;
    }
    Words partner = shuffled(keys, keys, partner_of);
    Ints mask = size >= kWidth ? takes_lower ^ down : takes_lower;
    return mask ? lower(keys, partner) : higher(keys, partner);
}

inline Words sort_small(Words keys, int down) {
    keys = step_inside<2, 1>(keys, 0);
    keys = step_inside<4, 2>(keys, 0);
    keys = step_inside<4, 1>(keys, 0);
    keys = step_inside<8, 4>(keys, 0);
    keys = step_inside<8, 2>(keys, 0);
    keys = step_inside<8, 1>(keys, 0);
    keys = step_inside<16, 8>(keys, down);
    keys = step_inside<16, 4>(keys, down);
    keys = step_inside<16, 2>(keys, down);
    return step_inside<16, 1>(keys, down);
}

inline Words finish_merge(Words keys, int down) {
    keys = step_inside<16, 8>(keys, down);
    keys = step_inside<16, 4>(keys, down);
    keys = step_inside<16, 2>(keys, down);
    return step_inside<16, 1>(keys, down);
}

// Merges runs of `size` vectors; every second one downwards.
template <int size, int count> inline void merge(Words (&keys)[count]) {
    for (int stride = size / 2; stride > 0; stride /= 2)
        for (int i = 0; i < count; ++i) {
            if (i & stride)
                continue;
            Words low = lower(keys[i], keys[i + stride]);
            Words high = higher(keys[i], keys[i + stride]);
            bool down = (i & size) != 0 && size < count;
            keys[i] = down ? high : low;
            keys[i + stride] = down ? low : high;
        }
    for (int i = 0; i < count; ++i)
        keys[i] = finish_merge(keys[i], (i & size) != 0 && size < count ? -1 : 0);
}

} // namespace

void sort_pieces(const unsigned *in, unsigned *out, int count) {
    constexpr int kVectors = 32;
#pragma omp parallel for schedule(dynamic, 64)
    for (int piece = 0; piece < count; ++piece) {
        std::size_t start = static_cast<std::size_t>(piece) * kVectors * kWidth;
        Words keys[kVectors];
        for (int i = 0; i < kVectors; ++i)
            keys[i] = sort_small(load<Words>(in + start + i * kWidth), i & 1 ? -1 : 0);
        merge<2>(keys);
        merge<4>(keys);
        merge<8>(keys);
        merge<16>(keys);
        merge<32>(keys);
        std::memcpy(out + start, keys, sizeof keys);
    }
}

namespace {

template <int distance> inline Ints shifted_up(Ints value) {
    Ints from;
    for (int lane = 0; lane < kWidth; ++lane)
        from[lane] = lane < distance ? kWidth : lane - distance;
    return shuffled(value, Ints{}, from);
}

inline Ints inclusive_sums(Ints value) {
    value += shifted_up<1>(value);
    value += shifted_up<2>(value);
    value += shifted_up<4>(value);
    return value + shifted_up<8>(value);
}

} // namespace

// Each thread sums its part; when all sums are known, each scans its part from the sum before it.
void exclusive_scan(const int *in, int *out, int n) {
    std::vector<int> sums(static_cast<std::size_t>(omp_get_max_threads()) + 1);
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), thread = omp_get_thread_num();
        std::int64_t vectors = n / kWidth;
        auto begin = static_cast<int>(vectors * thread / threads) * kWidth;
        auto end = static_cast<int>(vectors * (thread + 1) / threads) * kWidth;
        Ints total = {};
        for (int i = begin; i < end; i += kWidth)
            total += load<Ints>(in + i);
        sums[static_cast<std::size_t>(thread) + 1] = sum_of_lanes(total);
#pragma omp barrier
        int carry = 0;
        for (int before = 0; before <= thread; ++before)
            carry += sums[static_cast<std::size_t>(before)];
        for (int i = begin; i < end; i += kWidth) {
            Ints value = load<Ints>(in + i), up_to = inclusive_sums(value);
            store(out + i, up_to - value + carry);
            carry += up_to[kWidth - 1];
        }
    }
}

namespace {

inline float row_times(const int *columns, const float *values, const float *x, int count) {
#ifdef __AVX512F__
    __m512 sum = _mm512_setzero_ps();
    for (int k = 0; k < count; k += kWidth) {
        auto left = static_cast<unsigned>(count - k);
        __mmask16 mask = _cvtu32_mask16(left >= kWidth ? 0xFFFF : (1u << left) - 1);
        __m512i at = _mm512_maskz_loadu_epi32(mask, columns + k);
        __m512 from = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask, at, x, 4);
        sum = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, values + k), from, sum);
    }
    return _mm512_reduce_add_ps(sum);
#else
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < count; ++k)
        sum += values[k] * x[columns[k]];
    return sum;
#endif
}

} // namespace

void spmv(const int *starts, const int *columns, const float *values, const float *x, float *y,
          int rows) {
#pragma omp parallel for schedule(dynamic, 1024)
    for (int row = 0; row < rows; ++row) {
        int start = starts[row];
        y[row] = row_times(columns + start, values + start, x, starts[row + 1] - start);
    }
}
