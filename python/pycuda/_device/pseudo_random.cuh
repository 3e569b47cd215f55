// pseudo_random.cuh -- fills arrays by the generators of pycuda.curandom.
//
// Defined before this file: STATE, the generator's state, a type of pycuda-random.hpp.
#pragma once

#include <pycuda-random.hpp>

typedef pycuda::STATE State;

/// Fills an array. Element i comes from generator i modulo their number.
template <class T, class Make>
__device__ void each(State *states, T *out, size_t n, unsigned generators, const Make &make) {
    const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= generators)
        return;
    State state = states[own];
    for (size_t i = own; i < n; i += generators)
        out[i] = make(state, out[i]);
    states[own] = state;
}

/// As above for normal numbers, which are generated in pairs: two neighbours at a time.
template <class T, class Change>
__device__ void pairs(State *states, T *out, size_t n, unsigned generators, const Change &change) {
    const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= generators)
        return;
    State state = states[own];
    for (size_t i = 2 * (size_t)own; i < n; i += 2 * (size_t)generators) {
        const auto z = pycuda::normal_pair(state, T());
        out[i] = change(z.x);
        if (i + 1 < n)
            out[i + 1] = change(z.y);
    }
    states[own] = state;
}

/// Defines a kernel NAME that fills elements of type TYPE with the parameters a and b.
#define KERNEL(NAME, TYPE, BODY)                                                                   \
    extern "C" __global__ void NAME(State *s, TYPE *d, size_t n, unsigned g, double a, double b) { \
        typedef TYPE T;                                                                            \
        BODY;                                                                                      \
    }

KERNEL(uniform_f, float, each(s, d, n, g, [](State &state, T) { return state.uniform(); }))
KERNEL(uniform_d, double, each(s, d, n, g, [](State &state, T) { return state.uniform_double(); }))
KERNEL(uniform_i, int, each(s, d, n, g, [](State &state, T) { return (T)state.bits(); }))
KERNEL(uniform_I, unsigned, each(s, d, n, g, [](State &state, T) { return (T)state.bits(); }))

#define NORMAL pairs(s, d, n, g, [](T z) { return z; })
KERNEL(normal_f, float, NORMAL)
KERNEL(normal_d, double, NORMAL)

#define LOG_NORMAL pairs(s, d, n, g, [=](T z) { return exp((T)a + (T)b * z); })
KERNEL(log_normal_f, float, LOG_NORMAL)
KERNEL(log_normal_d, double, LOG_NORMAL)

/// With b, the mean is a; without b, each element's mean is its old value.
#define POISSON                                                                                    \
    each(s, d, n, g, [=](State &state, T mean) {                                                   \
        return (T)pycuda::poisson(state, b != 0 ? a : (double)mean);                               \
    })
KERNEL(poisson_f, float, POISSON)
KERNEL(poisson_d, double, POISSON)
KERNEL(poisson_I, unsigned, POISSON)
