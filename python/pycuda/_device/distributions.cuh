// distributions.cuh -- random numbers by rejection: gamma, Poisson and binomial distributions.
//
// Defined before this file: using T, the type of the elements; MAKE, the name of a function below.
//
// Element i of a call has the blocks of Philox at the position of the call plus i, with one key for
// each attempt. So an element does not depend on the attempts of the others.
#pragma once

#include <pycuda-random.hpp>

/// The random numbers of one element.
class Draws {
  public:
    __device__ Draws(unsigned long long low, unsigned long long high, unsigned long long seed)
        : counter_{unsigned(low), unsigned(low >> 32), unsigned(high), unsigned(high >> 32)},
          seed_(seed) {}

    /// Two numbers from 0 (excluded) to 1.
    __device__ double2 pair() {
        const unsigned long long key = seed_ + attempt_++ * 0x9E3779B97F4A7C15ull;
        const uint4 r = pycuda::Philox4x32::block(counter_, {unsigned(key), unsigned(key >> 32)});
        return {pycuda::positive_unit(r.x, r.y), pycuda::positive_unit(r.z, r.w)};
    }

  private:
    uint4 counter_;
    unsigned long long seed_, attempt_ = 0;
};

/// Marsaglia and Tsang, A simple method for generating gamma variables, 2000.
__device__ double gamma_of(Draws &draws, double shape) {
    if (shape == 0)
        return 0;
    const bool is_small = shape < 1;
    const double d = (is_small ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d);
    double factor = 1;
    if (is_small)
        factor = pow(draws.pair().x, 1 / shape);
    for (;;) {
        const double2 for_normal = draws.pair(), other = draws.pair();
        const double x = pycuda::box_muller(for_normal.x, for_normal.y).x, root = 1 + c * x;
        if (root <= 0)
            continue;
        const double v = root * root * root;
        if (log(other.x) < 0.5 * x * x + d * (1 - v + log(v)))
            return factor * d * v;
    }
}

__device__ double Gamma(Draws &draws, double shape, double scale) {
    return scale * gamma_of(draws, shape);
}

/// Inversion for small means; else Hormann, The transformed rejection method for generating Poisson
/// random variables, 1993.
__device__ double Poisson(Draws &draws, double mean, double) {
    if (mean < 10) {
        double left = draws.pair().x, part = exp(-mean), k = 0;
        while (left > part && k < 200) {
            left -= part;
            k += 1;
            part *= mean / k;
        }
        return k;
    }
    const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    const double alpha = 1.1239 + 1.1328 / (b - 3.4), low = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double2 uv = draws.pair();
        const double u = uv.x - 0.5, us = 0.5 - fabs(u);
        const double k = floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && uv.y <= low)
            return k;
        if (k < 0 || (us < 0.013 && uv.y > us))
            continue;
        if (log(uv.y) + log(alpha) - log(a / (us * us) + b) <=
            -mean + k * log(mean) - lgamma(k + 1))
            return k;
    }
}

/// Inversion for small means; else Hormann, The generation of binomial random variates, 1993.
__device__ double Binomial(Draws &draws, double n, double chance) {
    const double p = chance > 0.5 ? 1 - chance : chance, q = 1 - p;
    double k = 0;
    if (p == 0 || n == 0) {
        k = 0;
    } else if (n * p < 10) {
        double left = draws.pair().x, part = exp(n * log1p(-p));
        while (left > part && k < n) {
            left -= part;
            k += 1;
            part *= (n - k + 1) * p / (k * q);
        }
    } else {
        const double spread = sqrt(n * p * q), b = 1.15 + 2.53 * spread;
        const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
        const double low = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
        const double m = floor((n + 1) * p);
        for (;;) {
            const double2 uv = draws.pair();
            const double u = uv.x - 0.5, us = 0.5 - fabs(u);
            k = floor((2 * a / us + b) * u + c);
            if (k < 0 || k > n)
                continue;
            if (us >= 0.07 && uv.y <= low)
                break;
            if (log(uv.y * alpha / (a / (us * us) + b)) <= lgamma(m + 1) + lgamma(n - m + 1) -
                                                               lgamma(k + 1) - lgamma(n - k + 1) +
                                                               (k - m) * log(p / q))
                break;
        }
    }
    return chance > 0.5 ? n - k : k;
}

/// low, high: the first counter. a_step, b_step: 0 if a parameter is the same for all elements.
extern "C" __global__ void __launch_bounds__(128)
    draw(T *out, unsigned long long n, unsigned long long low, unsigned long long high,
         unsigned long long seed, const double *a, int a_step, const double *b, int b_step) {
    const unsigned long long i = blockIdx.x * 128ull + threadIdx.x;
    if (i >= n)
        return;
    Draws draws(low + i, high + (low + i < low), seed);
    out[i] = T(MAKE(draws, a[i * a_step], b[i * b_step]));
}
