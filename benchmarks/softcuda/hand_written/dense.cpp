// dense.cpp -- kernels limited by arithmetic: matrix product, Mandelbrot set, n-body, Philox.
#include "hand_written.h"
#include "vectors.h"

#include <algorithm>
#include <cmath>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace vectors;

// 64 columns of C at a time, with B's columns packed; 4 of their rows are in registers.
void matmul(const float *a, const float *b, float *c, int n) {
    constexpr int kTile = 64, kRows = 4, kDepth = 256;
#pragma omp parallel for schedule(dynamic)
    for (int column = 0; column < n; column += kTile) {
        alignas(64) static thread_local float packed[kDepth * kTile];
        for (int depth = 0; depth < n; depth += kDepth) {
            int end = std::min(kDepth, n - depth);
            for (int k = 0; k < end; ++k)
                std::memcpy(packed + k * kTile,
                            b + static_cast<std::size_t>(depth + k) * n + column,
                            kTile * sizeof(float));
            for (int row = 0; row < n; row += kRows) {
                const float *left = a + static_cast<std::size_t>(row) * n + depth;
                float *to = c + static_cast<std::size_t>(row) * n + column;
                Floats sum[kRows][4] = {};
                for (int k = 0; k < end; ++k)
                    for (int r = 0; r < kRows; ++r)
                        for (int v = 0; v < 4; ++v)
                            sum[r][v] += left[static_cast<std::size_t>(r) * n + k] *
                                         load<Floats>(packed + k * kTile + v * kWidth);
                for (int r = 0; r < kRows; ++r)
                    for (int v = 0; v < 4; ++v) {
                        float *at = to + static_cast<std::size_t>(r) * n + v * kWidth;
                        store(at, depth == 0 ? sum[r][v] : load<Floats>(at) + sum[r][v]);
                    }
            }
        }
    }
}

// Four vectors at a time hide the latency of the multiply-adds. A point that is outside stays
// outside, so it is enough to test every few steps whether any point is inside.
void mandelbrot(int *counts, int width, int height, int limit) {
    constexpr int kVectors = 4, kSteps = 4;
    float dx = 2.6f / width, dy = 2.6f / height;
#pragma omp parallel for schedule(dynamic, 4)
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; column += kVectors * kWidth) {
            Floats cx[kVectors], x[kVectors] = {}, y[kVectors] = {};
            Ints count[kVectors] = {};
            float cy = -1.3f + row * dy;
            for (int v = 0; v < kVectors; ++v)
                for (int lane = 0; lane < kWidth; ++lane)
                    cx[v][lane] = -2.0f + (column + v * kWidth + lane) * dx;
            for (int i = 0; i < limit; i += kSteps) {
                Ints inside[kVectors];
                for (int step = 0; step < kSteps; ++step)
                    for (int v = 0; v < kVectors; ++v) {
                        Floats xx = x[v] * x[v], yy = y[v] * y[v];
                        inside[v] = xx + yy <= 4.0f;
                        y[v] = 2.0f * x[v] * y[v] + cy;
                        x[v] = xx - yy + cx[v];
                        count[v] -= inside[v];
                    }
                if (!any_lane((inside[0] | inside[1]) | (inside[2] | inside[3])))
                    break;
            }
            std::memcpy(counts + static_cast<std::size_t>(row) * width + column, count,
                        sizeof count);
        }
}

namespace {

inline Floats reciprocal_root(Floats x) {
#ifdef __AVX512F__
    auto guess = reinterpret_cast<Floats>(_mm512_rsqrt14_ps(reinterpret_cast<__m512>(x)));
    return guess * (1.5f - 0.5f * x * guess * guess);
#else
    Floats root;
    for (int lane = 0; lane < kWidth; ++lane)
        root[lane] = std::sqrt(x[lane]);
    return 1.0f / root;
#endif
}

} // namespace

void n_body(const float *bodies, float *accelerations, int n) {
    constexpr int kVectors = 2;
#pragma omp parallel for schedule(dynamic, 4)
    for (int i = 0; i < n; i += kVectors * kWidth) {
        Floats x[kVectors], y[kVectors], z[kVectors];
        Floats ax[kVectors] = {}, ay[kVectors] = {}, az[kVectors] = {};
        for (int v = 0; v < kVectors; ++v)
            for (int lane = 0; lane < kWidth; ++lane) {
                const float *me = bodies + 4 * static_cast<std::size_t>(i + v * kWidth + lane);
                x[v][lane] = me[0];
                y[v][lane] = me[1];
                z[v][lane] = me[2];
            }
        for (int j = 0; j < n; ++j) {
            const float *other = bodies + 4 * static_cast<std::size_t>(j);
            for (int v = 0; v < kVectors; ++v) {
                Floats dx = other[0] - x[v], dy = other[1] - y[v], dz = other[2] - z[v];
                Floats inverse = reciprocal_root(dx * dx + dy * dy + dz * dz + 1e-3f);
                Floats scale = other[3] * inverse * inverse * inverse;
                ax[v] += dx * scale;
                ay[v] += dy * scale;
                az[v] += dz * scale;
            }
        }
        for (int v = 0; v < kVectors; ++v)
            for (int lane = 0; lane < kWidth; ++lane) {
                float *to = accelerations + 4 * static_cast<std::size_t>(i + v * kWidth + lane);
                to[0] = ax[v][lane];
                to[1] = ay[v][lane];
                to[2] = az[v][lane];
                to[3] = 0;
            }
    }
}

namespace {

// Words of 32 bits in lanes of 64 bits, whose upper halves are ignored: the product of two has both
// halves in the positions that the next step needs.
using Longs = std::uint64_t __attribute__((vector_size(64)));

inline Longs product(Longs a, std::uint32_t b) {
#ifdef __AVX512F__
    return reinterpret_cast<Longs>(
        _mm512_mul_epu32(reinterpret_cast<__m512i>(a), _mm512_set1_epi64(b)));
#else
    return (a & 0xFFFFFFFFu) * std::uint64_t{b};
#endif
}

// The number of counters at a time is large enough to hide the latency of the multiplications.
constexpr int kCounters = 4;

inline void philox(Longs (&c)[4][kCounters], std::uint32_t key0, std::uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
        for (int v = 0; v < kCounters; ++v) {
            Longs first = product(c[0][v], 0xD2511F53u), second = product(c[2][v], 0xCD9E8D57u);
            c[0][v] = (second >> 32) ^ c[1][v] ^ std::uint64_t{key0};
            c[2][v] = (first >> 32) ^ c[3][v] ^ std::uint64_t{key1};
            c[1][v] = second;
            c[3][v] = first;
        }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

// Sixteen numbers in [0, 1), from the upper 24 bits of the words of two vectors.
inline Floats uniform(Longs even, Longs odd) {
    auto bits = reinterpret_cast<Words>((even & 0xFFFFFFFFu) | (odd << 32));
    return __builtin_convertvector(reinterpret_cast<Ints>(bits >> 8), Floats) *
           (1.0f / 16777216.0f);
}

// -1 in the lanes whose point lies in the circle.
inline Ints in_circle(Floats x, Floats y) { return x * x + y * y < 1.0f; }

} // namespace

void monte_carlo(unsigned *inside, int steps, unsigned seed, int blocks) {
    constexpr int kThreads = 256, kLanes = 8;
#pragma omp parallel for schedule(dynamic, 1)
    for (int block = 0; block < blocks; ++block) {
        Ints count = {};
        for (int first = 0; first < kThreads; first += kLanes * kCounters)
            for (int step = 0; step < steps; ++step) {
                Longs c[4][kCounters] = {};
                for (int v = 0; v < kCounters; ++v) {
                    c[0][v] += static_cast<std::uint64_t>(step);
                    c[2][v] = Longs{0, 1, 2, 3, 4, 5, 6, 7} +
                              static_cast<std::uint64_t>(block * kThreads + first + v * kLanes);
                }
                philox(c, seed, 0);
                for (int v = 0; v < kCounters; v += 2) {
                    Floats r[4];
                    for (int word = 0; word < 4; ++word)
                        r[word] = uniform(c[word][v], c[word][v + 1]);
                    count -= in_circle(r[0], r[1]) + in_circle(r[2], r[3]);
                }
            }
        inside[block] = static_cast<unsigned>(sum_of_lanes(count));
    }
}
