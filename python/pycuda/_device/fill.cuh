// fill.cuh -- arrays filled with random numbers of one distribution, by Philox.
//
// Before it: using T, the type of the elements; using P, that of the parameters a and b; MAKE, one
// of the distributions below; constexpr int ahead, how many counters a thread has in hand.
#pragma once

#include <pycuda-random.hpp>

// A distribution makes some elements of each four random words. `Used` keeps what is for other
// types of elements from being compiled.

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

/// Of mean a and standard deviation b, after Box and Muller.
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

/// Of mean a.
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

/// From a on, b of them; all of 64 bits where b is 0. The upper half of a word times b: uneven by
/// less than b / 2^64.
template <int bytes> struct Integers {
    static constexpr int count = 2;
    static __device__ void make(const unsigned (&r)[4], T (&v)[2], P a, P b) {
        for (int k = 0; k < 2; ++k) {
            const unsigned long long x = (unsigned long long)r[2 * k] << 32 | r[2 * k + 1];
            v[k] = a + (b ? __umul64hi(x, b) : x);
        }
    }
};

/// low, high: the counter to begin at.
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
