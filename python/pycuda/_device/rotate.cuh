// rotate.cuh -- computes singular values by rotations of columns.
//
// Defined before this file: using T, a real or complex type; using R, its real type.
#pragma once

#include "numbers.cuh"

__device__ R sum_of_warp(R x) {
    for (int half = 16; half > 0; half /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, half);
    return x;
}

/// (x, y) becomes (c x - s conj(phase) y, s phase x + c y).
__device__ void turn(T *x, T *y, int length, R c, R s, R phase_re, R phase_im) {
    const R u = s * phase_re, v = s * phase_im;
    for (int k = threadIdx.x; k < length; k += 32) {
        const R a = re(x[k]), b = im(x[k]), p = re(y[k]), q = im(y[k]);
        x[k] = Number<T>::of(c * a - (u * p + v * q), c * b - (u * q - v * p));
        y[k] = Number<T>::of(u * a - v * b + c * p, u * b + v * a + c * q);
    }
}

/// Columns whose squared length is below `least` are not rotated, because their products underflow.
__device__ void rotate_pair(T *w, T *v, int i, int j, int m, int n, R tolerance, R least,
                            int *moved) {
    T *x = w + (long long)i * m, *y = w + (long long)j * m;
    R xx = 0, yy = 0, xy_re = 0, xy_im = 0;
    for (int k = threadIdx.x; k < m; k += 32) {
        const R a = re(x[k]), b = im(x[k]), p = re(y[k]), q = im(y[k]);
        xx += a * a + b * b;
        yy += p * p + q * q;
        xy_re += a * p + b * q;
        xy_im += a * q - b * p;
    }
    xx = sum_of_warp(xx), yy = sum_of_warp(yy);
    xy_re = sum_of_warp(xy_re), xy_im = sum_of_warp(xy_im);
    const R size = hypot(xy_re, xy_im);
    if (xx < least || yy < least || !(size > tolerance * sqrt(xx) * sqrt(yy)))
        return;
    const R zeta = (yy - xx) / (2 * size);
    const R t = copysign(R(1), zeta) / (fabs(zeta) + hypot(R(1), zeta));
    const R c = 1 / sqrt(1 + t * t), s = c * t;
    turn(x, y, m, c, s, xy_re / size, xy_im / size);
    if (v)
        turn(v + (long long)i * n, v + (long long)j * n, n, c, s, xy_re / size, xy_im / size);
    if (threadIdx.x == 0)
        *moved = 1;
}

/// Rotates rows of w, which are the columns of matrices: n of length m for each blockIdx.y; v has n
/// of length n.
extern "C" __global__ void rotate(T *w, T *v, int *moved, int m, int n, int first, int rounds,
                                  R tolerance, R least) {
    const int others = (n + 1) / 2 * 2 - 1; // of an even number of players
    const int pair = blockIdx.x * blockDim.y + threadIdx.y;
    w += (long long)blockIdx.y * n * m;
    if (v)
        v += (long long)blockIdx.y * n * n;
    for (int round = first; round < first + rounds; ++round) {
        const int i = pair == 0 ? others : (round + pair) % others;
        const int j = (round + others - pair) % others;
        if (pair <= others / 2 && max(i, j) < n)
            rotate_pair(w, v, min(i, j), max(i, j), m, n, tolerance, least, moved);
        if (rounds > 1)
            __syncthreads();
    }
}
