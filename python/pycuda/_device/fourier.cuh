// fourier.cuh -- a pass of a Fourier transform.
//
// Defined before this file: using R; constexpr int radix, at least 2; constexpr bool inverse.
#pragma once

struct alignas(2 * sizeof(R)) C {
    R x, y;
};

__device__ C operator+(C a, C b) { return {a.x + b.x, a.y + b.y}; }
__device__ C operator-(C a, C b) { return {a.x - b.x, a.y - b.y}; }
__device__ C operator*(C a, C b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
// A quarter turn in the transform's direction.
__device__ C turned(C a) { return inverse ? C{-a.y, a.x} : C{a.y, -a.x}; }

__device__ void transform(C (&v)[radix], const C *roots, unsigned n) {
    if constexpr (radix == 2) {
        const C a = v[0], b = v[1];
        v[0] = a + b;
        v[1] = a - b;
    } else if constexpr (radix == 4) {
        const C a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = turned(v[1] - v[3]);
        v[0] = a + c;
        v[1] = b + d;
        v[2] = a - c;
        v[3] = b - d;
    } else {
        C root[radix], sum[radix];
#pragma unroll
        for (int k = 0; k < radix; ++k)
            root[k] = roots[n / radix * k];
#pragma unroll
        for (int k = 0; k < radix; ++k) {
            sum[k] = v[0];
#pragma unroll
            for (int r = 1; r < radix; ++r)
                sum[k] = sum[k] + v[r] * root[k * r % radix];
        }
#pragma unroll
        for (int k = 0; k < radix; ++k)
            v[k] = sum[k];
    }
}

extern "C" __global__ void __launch_bounds__(256)
    pass(const C *in, C *out, const C *roots, unsigned n, unsigned done, long long rows, R scale) {
    const unsigned each = n / radix;
    const long long thread = blockIdx.x * 256ll + threadIdx.x, row = thread / each;
    if (row >= rows)
        return;
    const unsigned i = static_cast<unsigned>(thread - row * each), k = i % done;
    in += row * n;
    out += row * n;
    C v[radix];
#pragma unroll
    for (int r = 0; r < radix; ++r)
        v[r] = in[i + r * each];
    const unsigned step = n / (done * radix);
#pragma unroll
    for (int r = 1; r < radix; ++r)
        v[r] = v[r] * roots[r * k * step];
    transform(v, roots, n);
    out += (i - k) * radix + k;
#pragma unroll
    for (int r = 0; r < radix; ++r)
        out[r * done] = {v[r].x * scale, v[r].y * scale};
}
