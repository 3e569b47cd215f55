// black_scholes.cpp -- compiled with -ffast-math, so that GCC calls the C library's vector versions
// of expf and logf.
#include "hand_written.h"

#include <cmath>

namespace {

inline float normal_cdf(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
    float tail =
        0.39894228f * std::exp(-0.5f * d * d) *
        (k * (0.31938153f +
              k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

} // namespace

void black_scholes(float *call, float *put, const float *price, const float *strike,
                   const float *years, float rate, float volatility, int n) {
#pragma omp parallel for simd schedule(dynamic, 16384)
    for (int i = 0; i < n; ++i) {
        float s = price[i], x = strike[i], t = years[i];
        float root = std::sqrt(t);
        float d1 =
            (std::log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root;
        float c1 = normal_cdf(d1), c2 = normal_cdf(d2);
        float discount = std::exp(-rate * t);
        call[i] = s * c1 - x * discount * c2;
        put[i] = x * discount * (1.0f - c2) - s * (1.0f - c1);
    }
}
