// hand_written.h -- the benchmark's kernels as a C++ programmer who knows SIMD would write them.
//
// Compiled with -O3 -march=native, on all cores with OpenMP. C linkage, so that the driver of the
// benchmark opens them with ctypes; the arguments are those of the kernels in ../kernels. Threads
// request pieces of a loop one after another: a core that is used by another process for a moment
// does not delay the others.
#pragma once

extern "C" {

/// y[i] += a * x[i]; n a multiple of 16.
void saxpy(float a, const float *x, float *y, int n);

/// dest[i] = 4 / (1 + (i / n)^2), in double.
void pi_mapper(float *dest, int n);

/// The same for float16, n in pairs of elements; a multiple of 16 pairs.
void half_axpy(float a, const void *x, void *y, int pairs);

/// Sums of `count` pieces of 2048 values.
void piece_sums(const float *x, float *sums, int count);

/// C = A B for n x n; n a multiple of 64.
void matmul(const float *a, const float *b, float *c, int n);

/// out = in transposed; n a multiple of 32.
void transpose(const float *in, float *out, int n);

/// One step of Jacobi's method on the inner points.
void stencil(const float *in, float *out, int width, int height);

/// One step of the heat equation on the inner points of an n x n x n cube.
void heat_3d(const float *in, float *out, int n);

/// One step of the lattice Boltzmann method: 9 arrays of n x n cells, periodic.
void lattice(const float *in, float *out, int n);

/// Escape counts over [-2, 0.6] x [-1.3, 1.3]; width a multiple of 64.
void mandelbrot(int *counts, int width, int height, int limit);

/// Accelerations of n bodies (x, y, z, mass); n a multiple of 32.
void n_body(const float *bodies, float *accelerations, int n);

/// Prices of n European options.
void black_scholes(float *call, float *put, const float *price, const float *strike,
                   const float *years, float rate, float volatility, int n);

/// bins[b] += how often b is among the n bytes; n a multiple of 8.
void histogram(const unsigned char *data, unsigned *bins, int n);

/// Sorts each of `count` pieces of 512 keys.
void sort_pieces(const unsigned *in, unsigned *out, int count);

/// Exclusive sums; n a multiple of 16.
void exclusive_scan(const int *in, int *out, int n);

/// y = A x, A as CSR.
void spmv(const int *starts, const int *columns, const float *values, const float *x, float *y,
          int rows);

/// For each of `blocks` blocks of 256 threads, counts how many of 2 * steps points of each thread
/// lie in the circle; the points come from Philox 4x32-10.
void monte_carlo(unsigned *inside, int steps, unsigned seed, int blocks);

/// out = in at points of distance `step`, filtered with weights of 8 bits; clamped.
void zoom_linear(const float *in, float *out, int width, int height, float step);
/// The same of n^3 elements.
void zoom_volume(const float *in, float *out, int n, float step);

/// out = in / 255 at the nearest points of a turned grid; clamped.
void turn_bytes(const unsigned char *in, float *out, int width, int height, float cosine,
                float sine);

/// The sums of the inner points and their four neighbours.
void surface_stencil(const float *in, float *out, int width, int height);

/// out = in filtered with 5 x 5 taps; zero outside.
void convolve(const float *in, float *out, const float *taps, int width, int height);

/// out[p] = (1 - damping) / pages + damping * the sum of rank / degree over the pages that link to
/// p.
void page_rank(const int *starts, const int *from, const float *rank, const int *degree, float *out,
               int pages, float damping);

/// The sum of n values.
void whole_sum(const float *x, float *out, int n);
void grey(const unsigned char *rgb, unsigned char *out, int n);
void to_mono(const short *stereo, short *out, int n);
void ring(const float *x, float *out, int n, int shared);
void invert(unsigned char *rgb, int n);

// unlisted.cpp: the kernels of unlisted.cu, on one core.
void mat4(const float *a, const float *b, float *c, int n);
void flip(const float *in, float *out, int width, int height);
void im2col(const float *in, float *out, int channels, int width, int height);
void bias_nchw(const float *bias, float *x, int n, int channels, int size);
void swap_rb(const unsigned char *in, unsigned char *out, int n);
void bright(const unsigned char *in, unsigned char *out, int n, int gain);
void life(const unsigned char *in, unsigned char *out, int width, int height);
void bfs_level(const int *starts, const int *to, const int *level, int *next, int n, int depth);
void count_words(const unsigned char *text, int *out, int n, int each);
void match4(const unsigned char *text, int *out, int n);
void edit(const unsigned char *a, const unsigned char *b, int *out, int n, int length);
void odd_even(int *x, int n, int phase);
void byte_hist(const unsigned char *in, unsigned *out, int n);
void bytecode(const int *code, const float *in, float *out, int length, int n);
void ising(const float *random, signed char *spins, int width, int height, int color);
void rot90(const float *in, float *out, int width, int height);
void knap(const int *in, int *out, int capacity, int weight, int value);
void row_scan(const float *in, float *out, int width, int height);
}
