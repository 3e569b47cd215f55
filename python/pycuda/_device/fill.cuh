// fill.cuh -- fills arrays with random numbers of one distribution, by Philox.
//
// Defined before this file: using T, the type of the elements; using P, the type of the parameters
// a and b; MAKE, one of the distributions below; constexpr int ahead, the number of counters that a
// thread processes at a time.
#pragma once

#include <pycuda-random.hpp>

// A distribution converts four random words to some elements. The parameter `Used` prevents the
// compilation of distributions for other types of elements.

/// In [a, a + b).
template <int bytes, class = void> struct Uniform;
template <class Used> struct Uniform<2, Used> {
    static constexpr int count = 4;
    static __device__ void make(const unsigned (&r)[4], T (&v)[4], P a, P b) {
        for (int k = 0; k < 4; ++k)
            v[k] = (a + b * ((r[k] >> 21) * 0x1p-11f));
    }
};
template <class Used> struct Uniform<4, Used> {
    static constexpr int count = 4;
    static __device__ void make(const unsigned (&r)[4], T (&v)[4], P a, P b) {
        for (int k = 0; k < 4; ++k)
            v[k] = a + b * pycuda::unit(r[k]);
    }
};
template <class Used> struct Uniform<8, Used> {
    static constexpr int count = 2;
    static __device__ void make(const unsigned (&r)[4], T (&v)[2], P a, P b) {
        for (int k = 0; k < 2; ++k)
            v[k] = a + b * pycuda::unit(r[2 * k], r[2 * k + 1]);
    }
};

/// Mean a and standard deviation b, by the Box-Muller method.
template <int bytes, class = void> struct Normal;
template <class Used> struct Normal<4, Used> {
    static constexpr int count = 4;
    static __device__ void make(const unsigned (&r)[4], T (&v)[4], P a, P b) {
        for (int k = 0; k < 4; k += 2) {
            const float2 z = pycuda::box_muller(r[k], r[k + 1]);
            v[k] = a + b * z.x;
            v[k + 1] = a + b * z.y;
        }
    }
};
template <class Used> struct Normal<8, Used> {
    static constexpr int count = 2;
    static __device__ void make(const unsigned (&r)[4], T (&v)[2], P a, P b) {
        const double2 z =
            pycuda::box_muller(pycuda::positive_unit(r[0], r[1]), pycuda::unit(r[2], r[3]));
        v[0] = a + b * z.x;
        v[1] = a + b * z.y;
    }
};

/// Mean a.
template <int bytes, class = void> struct Exponential;
template <class Used> struct Exponential<4, Used> {
    static constexpr int count = 4;
    static __device__ void make(const unsigned (&r)[4], T (&v)[4], P a, P) {
        for (int k = 0; k < 4; ++k)
            v[k] = -a * logf(pycuda::positive_unit(r[k]));
    }
};
template <class Used> struct Exponential<8, Used> {
    static constexpr int count = 2;
    static __device__ void make(const unsigned (&r)[4], T (&v)[2], P a, P) {
        for (int k = 0; k < 2; ++k)
            v[k] = -a * log(pycuda::positive_unit(r[2 * k], r[2 * k + 1]));
    }
};

/// b integers from a on; all integers of 64 bits if b is 0. The result is the upper half of a word
/// times b; the error of the probabilities is less than b / 2^64.
template <int bytes> struct Integers {
    static constexpr int count = 2;
    static __device__ void make(const unsigned (&r)[4], T (&v)[2], P a, P b) {
        for (int k = 0; k < 2; ++k) {
            const unsigned long long x = (unsigned long long)r[2 * k] << 32 | r[2 * k + 1];
            v[k] = a + (b ? __umul64hi(x, b) : x);
        }
    }
};

/// low, high: the first counter.
extern "C" __global__ void fill(T *out, size_t n, unsigned long long low, unsigned long long high,
                                unsigned long long seed, P a, P b) {
    using Make = MAKE<sizeof(T)>;
    const uint4 counter = {unsigned(low), unsigned(low >> 32), unsigned(high),
                           unsigned(high >> 32)};
    const uint2 key = {unsigned(seed), unsigned(seed >> 32)};
    pycuda::philox_fill<T, Make::count, ahead>(
        out, n, counter, key,
        [&](const unsigned(&r)[4], T(&v)[Make::count]) { Make::make(r, v, a, b); });
}
