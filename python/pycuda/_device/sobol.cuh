// sobol.cuh -- quasi-random numbers: Sobol sequences, one dimension for each thread.
//
// Defined before this file: WORD, unsigned or unsigned long long.
//
// Number n of a sequence is the exclusive or of the direction numbers at the set bits of n's Gray
// code. From n to n + 1, one bit changes: the position of n's lowest zero bit.
#pragma once

typedef WORD Word;
constexpr int bits = 8 * sizeof(Word);

/// In (0, 1): the middle of a word's interval.
__device__ float uniform(Word x, float) {
    return (unsigned)(x >> (bits - 32)) * 0x1p-32f + 0x1p-33f;
}
__device__ double uniform(Word x, double) {
    return bits == 64 ? (x >> (bits - 53)) * 0x1p-53 + 0x1p-54 : x * 0x1p-32 + 0x1p-33;
}
/// Less than 1 after rounding, because 1 would give an infinite normal number.
__device__ float inner(Word x, float) { return fminf(uniform(x, 0.0f), 1 - 0x1p-24f); }
__device__ double inner(Word x, double) { return fmin(uniform(x, 0.0), 1 - 0x1p-53); }
__device__ float normal(Word x, float) { return normcdfinvf(inner(x, 0.0f)); }
__device__ double normal(Word x, double) { return normcdfinv(inner(x, 0.0)); }

/// The inverse of the distribution function; for large means, the inverse for a normal
/// distribution.
__device__ double poisson(Word x, double mean) {
    if (!(mean > 0))
        return 0;
    const double u = inner(x, 0.0);
    if (mean > 500)
        return fmax(0.0, floor(mean + sqrt(mean) * normcdfinv(u) + 0.5));
    double part = exp(-mean), sum = part, k = 0;
    while (sum < u && part > 0) {
        ++k;
        part *= mean / k;
        sum += part;
    }
    return k;
}

template <class T, class Make>
__device__ void each(unsigned long long *positions, const Word *vectors, const Word *constants,
                     T *out, unsigned long long n, unsigned generators, const Make &make) {
    const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= generators)
        return;
    const Word *v = vectors + (unsigned long long)own * bits;
    unsigned long long position = positions[own];
    const unsigned long long gray = position ^ position >> 1;
    Word x = constants ? constants[own] : 0;
    for (int bit = 0; bit < bits; ++bit)
        if (gray >> bit & 1)
            x ^= v[bit];
    for (unsigned long long i = own; i < n; i += generators) {
        out[i] = make(x, out[i]);
        const int zero = __ffsll(~position) - 1;
        if (zero >= 0 && zero < bits)
            x ^= v[zero];
        ++position;
    }
    positions[own] = position;
}

/// Defines a kernel NAME that fills elements of type TYPE with VALUE, an expression of a word x,
/// the element's old value and the parameters a and b.
#define KERNEL(NAME, TYPE, VALUE)                                                                  \
    extern "C" __global__ void NAME(unsigned long long *p, const Word *v, const Word *c, TYPE *d,  \
                                    unsigned long long n, unsigned g, double a, double b) {        \
        typedef TYPE T;                                                                            \
        each(p, v, c, d, n, g, [=](Word x, T old) -> T { return VALUE; });                         \
    }

KERNEL(uniform_f, float, uniform(x, T()))
KERNEL(uniform_d, double, uniform(x, T()))
KERNEL(uniform_i, int, (T)(x >> (bits - 32)))
KERNEL(uniform_I, unsigned, (T)(x >> (bits - 32)))
KERNEL(uniform_l, long long, (T)x)
KERNEL(uniform_L, unsigned long long, (T)x)
KERNEL(normal_f, float, normal(x, T()))
KERNEL(normal_d, double, normal(x, T()))
KERNEL(log_normal_f, float, exp((T)a + (T)b * normal(x, T())))
KERNEL(log_normal_d, double, exp((T)a + (T)b * normal(x, T())))
KERNEL(poisson_f, float, (T)poisson(x, b != 0 ? a : (double)old))
KERNEL(poisson_d, double, (T)poisson(x, b != 0 ? a : (double)old))
KERNEL(poisson_I, unsigned, (T)poisson(x, b != 0 ? a : (double)old))
