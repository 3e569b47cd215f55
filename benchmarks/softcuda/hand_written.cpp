// hand_written.cpp -- vector types of 64 bytes; the compiler splits them where registers are
// narrower.

#include "hand_written.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

namespace hand_written {

namespace {

constexpr int kWidth = 16;
using Floats = float __attribute__((vector_size(64)));
using Ints = int __attribute__((vector_size(64)));

Floats load(const float *from) {
    Floats value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

void store(float *to, Floats value) { std::memcpy(to, &value, sizeof value); }

} // namespace

void saxpy(float a, const float *x, float *y, std::size_t n) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; i += kWidth)
        store(y + i, load(y + i) + a * load(x + i));
}

void pi_mapper(float *dest, int n) {
#pragma omp parallel for simd schedule(static)
    for (int i = 0; i < n; ++i) {
        double x = 1.0 * i / n;
        dest[i] = static_cast<float>(4.0 / (1.0 + x * x));
    }
}

void block_sums(const float *x, float *sums, std::size_t n, std::size_t piece) {
#pragma omp parallel for schedule(static)
    for (std::size_t start = 0; start < n; start += piece) {
        Floats total[4] = {};
        for (std::size_t i = 0; i < piece; i += 4 * kWidth)
            for (int k = 0; k < 4; ++k)
                total[k] += load(x + start + i + k * kWidth);
        Floats all = (total[0] + total[1]) + (total[2] + total[3]);
        float sum = 0;
        for (int lane = 0; lane < kWidth; ++lane)
            sum += all[lane];
        sums[start / piece] = sum;
    }
}

// 64 x 64 tiles of C; in each, 4 rows of 64 columns in registers at a time, B packed by tile.
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
                Floats sum[kRows][4];
                for (int r = 0; r < kRows; ++r)
                    for (int v = 0; v < 4; ++v)
                        sum[r][v] = depth == 0 ? Floats{}
                                               : load(c + static_cast<std::size_t>(row + r) * n +
                                                      column + v * kWidth);
                for (int k = 0; k < end; ++k)
                    for (int r = 0; r < kRows; ++r)
                        for (int v = 0; v < 4; ++v)
                            sum[r][v] += a[static_cast<std::size_t>(row + r) * n + depth + k] *
                                         load(packed + k * kTile + v * kWidth);
                for (int r = 0; r < kRows; ++r)
                    for (int v = 0; v < 4; ++v)
                        store(c + static_cast<std::size_t>(row + r) * n + column + v * kWidth,
                              sum[r][v]);
            }
        }
    }
}

void mandelbrot(int *counts, int width, int height, int limit) {
    float dx = 2.6f / width, dy = 2.6f / height;
#pragma omp parallel for schedule(dynamic, 8)
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; column += 2 * kWidth) {
            // Two vectors at a time hide the latency of the multiply-adds.
            Floats cx[2], x[2] = {}, y[2] = {};
            Ints count[2] = {};
            float cy = -1.3f + row * dy;
            for (int v = 0; v < 2; ++v)
                for (int lane = 0; lane < kWidth; ++lane)
                    cx[v][lane] = -2.0f + (column + v * kWidth + lane) * dx;
            for (int i = 0; i < limit; ++i) {
                Ints inside[2];
                for (int v = 0; v < 2; ++v) {
                    Floats xx = x[v] * x[v], yy = y[v] * y[v];
                    inside[v] = xx + yy <= 4.0f;
                    y[v] = 2.0f * x[v] * y[v] + cy;
                    x[v] = xx - yy + cx[v];
                    count[v] -= inside[v];
                }
                Ints any = inside[0] | inside[1];
                std::int64_t words[8];
                std::memcpy(words, &any, sizeof words);
                if ((words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] |
                     words[7]) == 0)
                    break;
            }
            std::memcpy(counts + static_cast<std::size_t>(row) * width + column, count,
                        sizeof count);
        }
}

} // namespace hand_written
