// streaming.cpp -- kernels limited by memory: axpy, reduction, transposition, stencils, lattice.
#include "hand_written.h"
#include "vectors.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace vectors;

void saxpy(float a, const float *x, float *y, int n) {
#pragma omp parallel for schedule(dynamic, 2048)
    for (int i = 0; i < n; i += kWidth)
        store(y + i, load<Floats>(y + i) + a * load<Floats>(x + i));
}

void pi_mapper(float *dest, int n) {
#pragma omp parallel for simd schedule(dynamic, 16384)
    for (int i = 0; i < n; ++i) {
        double x = 1.0 * i / n;
        dest[i] = static_cast<float>(4.0 / (1.0 + x * x));
    }
}

#ifdef __AVX512FP16__
void half_axpy(float a, const void *x, void *y, int pairs) {
    using Halves = _Float16 __attribute__((vector_size(64)));
    const auto half = static_cast<_Float16>(a);
#pragma omp parallel for schedule(dynamic, 2048)
    for (int i = 0; i < pairs; i += kWidth) {
        auto *to = static_cast<unsigned *>(y) + i;
        store(to, load<Halves>(to) + half * load<Halves>(static_cast<const unsigned *>(x) + i));
    }
}
#elif defined(__x86_64__)
void half_axpy(float a, const void *x, void *y, int pairs) {
#pragma omp parallel for schedule(dynamic, 4096)
    for (int i = 0; i < pairs; i += 4) {
        auto *to = reinterpret_cast<__m128i *>(static_cast<unsigned *>(y) + i);
        auto *from = reinterpret_cast<const __m128i *>(static_cast<const unsigned *>(x) + i);
        __m256 sum = _mm256_fmadd_ps(_mm256_set1_ps(a), _mm256_cvtph_ps(_mm_loadu_si128(from)),
                                     _mm256_cvtph_ps(_mm_loadu_si128(to)));
        _mm_storeu_si128(to, _mm256_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
    }
}
#else
void half_axpy(float a, const void *x, void *y, int pairs) {
    auto *to = static_cast<_Float16 *>(y);
    auto *from = static_cast<const _Float16 *>(x);
#pragma omp parallel for simd schedule(dynamic, 4096)
    for (int i = 0; i < 2 * pairs; ++i)
        to[i] = static_cast<_Float16>(a * static_cast<float>(from[i]) + static_cast<float>(to[i]));
}
#endif

void piece_sums(const float *x, float *sums, int count) {
    constexpr int kPiece = 2048;
#pragma omp parallel for schedule(dynamic, 64)
    for (int piece = 0; piece < count; ++piece) {
        const float *from = x + static_cast<std::size_t>(piece) * kPiece;
        Floats total[4] = {};
        for (int i = 0; i < kPiece; i += 4 * kWidth)
            for (int k = 0; k < 4; ++k)
                total[k] += load<Floats>(from + i + k * kWidth);
        sums[piece] = sum_of_lanes((total[0] + total[1]) + (total[2] + total[3]));
    }
}

void stencil(const float *in, float *out, int width, int height) {
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 1; y < height - 1; ++y) {
        const float *row = in + static_cast<std::size_t>(y) * width;
        float *to = out + static_cast<std::size_t>(y) * width;
#pragma omp simd
        for (int x = 1; x < width - 1; ++x)
            to[x] = 0.5f * row[x] +
                    0.125f * (row[x - 1] + row[x + 1] + row[x - width] + row[x + width]);
    }
}

void heat_3d(const float *in, float *out, int n) {
    const int plane = n * n;
#pragma omp parallel for collapse(2) schedule(dynamic, 16)
    for (int z = 1; z < n - 1; ++z)
        for (int y = 1; y < n - 1; ++y) {
            const float *row = in + (z * n + y) * n;
            float *to = out + (z * n + y) * n;
#pragma omp simd
            for (int x = 1; x < n - 1; ++x)
                to[x] = row[x] + 0.1f * (row[x - 1] + row[x + 1] + row[x - n] + row[x + n] +
                                         row[x - plane] + row[x + plane] - 6.0f * row[x]);
        }
}

namespace {

// One cell; `at` is its place in a row, and left and right those of its neighbours.
inline void collide(const float *const from[9], float *const to[9], int left, int at, int right) {
    const float f[9] = {from[0][at],   from[1][left],  from[2][at],    from[3][right], from[4][at],
                        from[5][left], from[6][right], from[7][right], from[8][left]};
    const float mass = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8];
    const float u = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / mass;
    const float v = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / mass;
    const float rest = 1.0f - 1.5f * (u * u + v * v);
    auto relax = [&](int direction, float weight, float along) {
        const float equilibrium = weight * mass * (rest + 3.0f * along + 4.5f * along * along);
        to[direction][at] = f[direction] + 0.6f * (equilibrium - f[direction]);
    };
    relax(0, 4.0f / 9, 0.0f);
    relax(1, 1.0f / 9, u);
    relax(2, 1.0f / 9, v);
    relax(3, 1.0f / 9, -u);
    relax(4, 1.0f / 9, -v);
    relax(5, 1.0f / 36, u + v);
    relax(6, 1.0f / 36, v - u);
    relax(7, 1.0f / 36, -u - v);
    relax(8, 1.0f / 36, u - v);
}

} // namespace

void lattice(const float *in, float *out, int n) {
    const std::size_t cells = static_cast<std::size_t>(n) * n;
#pragma omp parallel for schedule(dynamic, 8)
    for (int y = 0; y < n; ++y) {
        const int up = y == 0 ? n - 1 : y - 1, down = y == n - 1 ? 0 : y + 1;
        const int rows[9] = {y, y, up, y, down, up, up, down, down};
        const float *from[9];
        float *to[9];
        for (int k = 0; k < 9; ++k) {
            from[k] = in + k * cells + static_cast<std::size_t>(rows[k]) * n;
            to[k] = out + k * cells + static_cast<std::size_t>(y) * n;
        }
        collide(from, to, n - 1, 0, 1);
#pragma omp simd
        for (int x = 1; x < n - 1; ++x)
            collide(from, to, x - 1, x, x + 1);
        collide(from, to, n - 2, n - 1, 0);
    }
}

namespace {

// Exchanges the blocks of `step` x `step` off the diagonal in each square of twice that size.
template <int step> inline void exchange(Floats *rows) {
    Ints first, second;
    for (int lane = 0; lane < kWidth; ++lane) {
        first[lane] = (lane & step) ? kWidth + lane - step : lane;
        second[lane] = (lane & step) ? kWidth + lane : lane + step;
    }
    for (int row = 0; row < kWidth; ++row) {
        if (row & step)
            continue;
        Floats a = rows[row], b = rows[row + step];
        rows[row] = shuffled(a, b, first);
        rows[row + step] = shuffled(a, b, second);
    }
}

inline void transpose_square(const float *from, float *to, int n) {
    Floats rows[kWidth];
    for (int row = 0; row < kWidth; ++row)
        rows[row] = load<Floats>(from + static_cast<std::size_t>(row) * n);
    exchange<8>(rows);
    exchange<4>(rows);
    exchange<2>(rows);
    exchange<1>(rows);
    for (int row = 0; row < kWidth; ++row)
        store(to + static_cast<std::size_t>(row) * n, rows[row]);
}

} // namespace

// Bands of 64 columns by 16 rows of `out`'s tiles, so that cache lines and pages are used again
// while they are cached.
void transpose(const float *in, float *out, int n) {
    constexpr int kTile = 32;
#pragma omp parallel for schedule(dynamic, 1)
    for (int y = 0; y < n; y += kTile)
        for (int x = 0; x < n; x += kTile)
            for (int i = 0; i < kTile; i += kWidth)
                for (int j = 0; j < kTile; j += kWidth)
                    transpose_square(in + static_cast<std::size_t>(y + i) * n + x + j,
                                     out + static_cast<std::size_t>(x + j) * n + y + i, n);
}
