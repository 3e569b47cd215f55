// pycuda-random.hpp -- random numbers in kernels: the generators of pycuda.random and
// pycuda.curandom.
//
// Philox4x32 is a function of (counter, key): any thread can compute any number of the sequence, so
// results do not depend on the configuration of a launch. Xorwow and Mrg32k3a have a state for each
// thread, and follow cuRAND's definitions of the sequences. May be included inside extern "C".
#pragma once

extern "C++" {
namespace pycuda {

// ---- generators -----------------------------------------------------------------------------

/// Philox4x32 of ten rounds (Salmon, Moraes, Dror, Shaw 2011).
struct Philox4x32 {
    /// Four words of the sequence with key `key` at the 128-bit position `counter`.
    static __device__ uint4 block(uint4 counter, uint2 key) {
#pragma unroll
        for (int round = 0; round < 10; ++round) {
            const unsigned long long a = 0xD2511F53ull * counter.x;
            const unsigned long long b = 0xCD9E8D57ull * counter.z;
            counter = make_uint4(
                static_cast<unsigned>(b >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(b),
                static_cast<unsigned>(a >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(a));
            key.x += 0x9E3779B9u;
            key.y += 0xBB67AE85u;
        }
        return counter;
    }
};

/// Marsaglia's xorwow: a shift register of 160 bits and a Weyl sequence.
struct Xorwow {
    unsigned d, v[5];

    __device__ unsigned bits() {
        const unsigned t = v[0] ^ (v[0] >> 2);
        v[0] = v[1];
        v[1] = v[2];
        v[2] = v[3];
        v[3] = v[4];
        v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
        d += 362437;
        return v[4] + d;
    }
    __device__ float uniform() { return bits() * 2.3283064e-10f + 2.3283064e-10f / 2; }
    __device__ double uniform_double() {
        const unsigned x = bits();
        const unsigned long long z = x ^ (static_cast<unsigned long long>(bits()) << 21);
        return z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2;
    }
};

/// L'Ecuyer's MRG32k3a: two recurrences of order three.
struct Mrg32k3a {
    unsigned s1[3], s2[3];

    /// From 1 to 4294967087.
    __device__ unsigned long long next() {
        constexpr long long m1 = 4294967087ll, m2 = 4294944443ll;
        long long p1 = (1403580ll * s1[1] - 810728ll * s1[0]) % m1;
        long long p2 = (527612ll * s2[2] - 1370589ll * s2[0]) % m2;
        p1 += p1 < 0 ? m1 : 0;
        p2 += p2 < 0 ? m2 : 0;
        s1[0] = s1[1];
        s1[1] = s1[2];
        s1[2] = static_cast<unsigned>(p1);
        s2[0] = s2[1];
        s2[1] = s2[2];
        s2[2] = static_cast<unsigned>(p2);
        return static_cast<unsigned long long>(p1 <= p2 ? p1 - p2 + m1 : p1 - p2);
    }
    __device__ unsigned bits() { return static_cast<unsigned>(next() * 1.000000048662); }
    __device__ float uniform() { return static_cast<float>(uniform_double()); }
    __device__ double uniform_double() { return next() * 2.3283065498378288e-10; }
};

// ---- distributions --------------------------------------------------------------------------

/// [0, 1) of 24, or of 53, random bits.
__device__ inline float unit(unsigned word) { return (word >> 8) * 0x1p-24f; }
__device__ inline double unit(unsigned high, unsigned low) {
    return ((high >> 5) * 67108864.0 + (low >> 6)) * 0x1p-53;
}
/// (0, 1] for logarithms.
__device__ inline float positive_unit(unsigned word) { return word * 0x1p-32f + 0x1p-33f; }
__device__ inline double positive_unit(unsigned high, unsigned low) {
    return 1.0 - unit(high, low);
}

/// Two normal numbers from two uniform ones in (0, 1] (Box and Muller).
__device__ inline float2 box_muller(float u, float v) {
    float sine, cosine;
    sincospif(2.0f * v, &sine, &cosine);
    const float radius = sqrtf(-2.0f * logf(u));
    return make_float2(radius * sine, radius * cosine);
}
__device__ inline double2 box_muller(double u, double v) {
    double sine, cosine;
    sincospi(2.0 * v, &sine, &cosine);
    const double radius = sqrt(-2.0 * log(u));
    return make_double2(radius * sine, radius * cosine);
}

/// -2 log(u) for u from 2^-33 to 1, by a polynomial in u's fraction.
__device__ inline float minus_two_log(float u) {
    const int bits = __float_as_int(u);
    const int exponent = (bits - 0x3f3504f3) & 0xff800000; // the fraction is from 0.7 to 1.4
    const float x = __int_as_float(bits - exponent) - 1.0f;
    float p = -0.1795886904f;
    p = fmaf(p, x, 0.2885368466f);
    p = fmaf(p, x, -0.2976740003f);
    p = fmaf(p, x, 0.3310358822f);
    p = fmaf(p, x, -0.3992695212f);
    p = fmaf(p, x, 0.5000516772f);
    p = fmaf(p, x, -0.6666786671f);
    p = fmaf(p, x, 1.0f);
    p = fmaf(p, x, -2.0f);
    return fmaf(static_cast<float>(exponent), -1.3862943611f * 0x1p-23f, p * x);
}

/// box_muller(positive_unit(u), unit(v)), in three quarters of the instructions: the arguments of
/// the logarithm are normal numbers, and the angle's quarter is in the bits of v. The largest error
/// is 4 units in the last place.
__device__ inline float2 box_muller(unsigned u, unsigned v) {
    const float radius = sqrtf(minus_two_log(positive_unit(u)));
    // In quarters of a turn: the nearest whole number, and a rest t of at most a half.
    const unsigned angle = v & ~255u, quarter = angle + 0x20000000u;
    const float t = static_cast<int>(angle << 2) * 0x1p-32f, z = t * t;
    float s = -0.0046016690f, c = -0.0204262510f;
    s = fmaf(s, z, 0.0796800405f);
    s = fmaf(s, z, -0.6459634900f);
    s = fmaf(s, z, 1.5707963705f) * t;
    c = fmaf(c, z, 0.2536063492f);
    c = fmaf(c, z, -1.2336980104f);
    c = fmaf(c, z, 1.0f);
    const bool odd = quarter & 0x40000000u;
    const unsigned sine = __float_as_uint(odd ? c : s) ^ (quarter & 0x80000000u);
    const unsigned cosine =
        __float_as_uint(odd ? s : c) ^ ((quarter + 0x40000000u) & 0x80000000u);
    return make_float2(radius * __uint_as_float(sine), radius * __uint_as_float(cosine));
}

template <class State> __device__ float2 normal_pair(State &state, float) {
    const float u = state.uniform();
    return box_muller(u, state.uniform());
}
template <class State> __device__ double2 normal_pair(State &state, double) {
    const double u = state.uniform_double();
    return box_muller(u, state.uniform_double());
}

/// A Poisson number. Products of uniform numbers for small means (Knuth), transformed rejection for
/// large ones (Hörmann's PTRS).
template <class State> __device__ unsigned poisson(State &state, double mean) {
    if (!(mean > 0))
        return 0;
    if (mean < 10) {
        const double limit = exp(-mean);
        unsigned count = 0;
        for (double product = state.uniform_double(); product > limit;
             product *= state.uniform_double())
            ++count;
        return count;
    }
    const double log_mean = log(mean), b = 0.931 + 2.53 * sqrt(mean);
    const double a = -0.059 + 0.02483 * b, inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    const double v_r = 0.9277 - 3.6224 / (b - 2);
    double k;
    bool accepted;
    do {
        const double u = state.uniform_double() - 0.5, v = state.uniform_double();
        const double us = 0.5 - fabs(u);
        k = floor((2 * a / us + b) * u + mean + 0.43);
        accepted = us >= 0.07 && v <= v_r;
        if (!accepted && k >= 0 && (us >= 0.013 || v <= us))
            accepted = log(v) + log(inverse_alpha) - log(a / (us * us) + b) <=
                       k * log_mean - mean - lgamma(k + 1);
    } while (!accepted);
    return static_cast<unsigned>(k);
}

/// Fills n elements: `make(words, values)` computes `Each` elements from four words. Element i
/// depends only on key, counter and i. `Ahead` blocks of words are generated at a time.
template <class T, int Each, int Ahead = 1, class Make>
__device__ void philox_fill(T *out, unsigned long long n, uint4 counter, uint2 key,
                            const Make &make) {
    struct alignas(Each * sizeof(T) <= 16 ? Each * sizeof(T) : sizeof(T)) Vector {
        T value[Each];
    };
    const unsigned long long blocks = (n + Each - 1) / Each;
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    const bool aligned = reinterpret_cast<unsigned long long>(out) % alignof(Vector) == 0;
    const unsigned long long low = static_cast<unsigned long long>(counter.y) << 32 | counter.x;
    const unsigned long long high = static_cast<unsigned long long>(counter.w) << 32 | counter.z;
    for (unsigned long long first =
             static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
         first < blocks; first += Ahead * step) {
        Vector vector[Ahead];
#pragma unroll
        for (int i = 0; i < Ahead; ++i) {
            const unsigned long long at = low + (first + i * step), carry = high + (at < low);
            const uint4 random = Philox4x32::block(
                make_uint4(static_cast<unsigned>(at), static_cast<unsigned>(at >> 32),
                           static_cast<unsigned>(carry), static_cast<unsigned>(carry >> 32)),
                key);
            const unsigned words[4] = {random.x, random.y, random.z, random.w};
            make(words, vector[i].value);
        }
#pragma unroll
        for (int i = 0; i < Ahead; ++i) {
            const unsigned long long block = first + i * step;
            if (aligned && (block + 1) * Each <= n)
                *reinterpret_cast<Vector *>(out + block * Each) = vector[i];
            else
                for (int k = 0; k < Each; ++k)
                    if (block * Each + k < n)
                        out[block * Each + k] = vector[i].value[k];
        }
    }
}

} // namespace pycuda
} // extern "C++"
