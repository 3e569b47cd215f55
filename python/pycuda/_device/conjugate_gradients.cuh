// conjugate_gradients.cuh -- the steps of conjugate gradients, whose factors are on the device.
//
// Before it: using T. A quotient whose denominator is 0 is 0: the solution is exact then, and
// further steps leave it so.
#pragma once

#include <pycuda-complex.hpp>

__device__ inline T guarded_quotient(T a, T b) { return b == T(0) ? T(0) : T(a / b); }

/// x += alpha p and r -= alpha q, with alpha = *numerator / *denominator.
extern "C" __global__ void __launch_bounds__(256)
    step(const T *numerator, const T *denominator, const T *p, const T *q, T *x, T *r,
         long long count) {
    const T alpha = guarded_quotient(*numerator, *denominator);
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
        x[i] = T(x[i] + alpha * p[i]);
        r[i] = T(r[i] - alpha * q[i]);
    }
}

/// p = z + beta p, with beta = *numerator / *denominator.
extern "C" __global__ void __launch_bounds__(256)
    turn(const T *numerator, const T *denominator, const T *z, T *p, long long count) {
    const T beta = guarded_quotient(*numerator, *denominator);
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll)
        p[i] = T(z[i] + beta * p[i]);
}
