// hand_written.h -- the benchmark kernels as a C++ programmer with SIMD at hand would write them.
//
// GCC vector types at -O3 -march=native, all cores by OpenMP.
#pragma once

#include <cstddef>

namespace hand_written {

/// y[i] += a * x[i].
void saxpy(float a, const float *x, float *y, std::size_t n);

/// dest[i] = 4 / (1 + (i / n)^2), computed in double as the tutorial's kernel does.
void pi_mapper(float *dest, int n);

/// Sums of consecutive pieces of `piece` values.
void block_sums(const float *x, float *sums, std::size_t n, std::size_t piece);

/// C = A * B for square matrices; n a multiple of 64.
void matmul(const float *a, const float *b, float *c, int n);

/// Escape counts over [-2, 0.6] x [-1.3, 1.3]; width a multiple of 32.
void mandelbrot(int *counts, int width, int height, int limit);

} // namespace hand_written
