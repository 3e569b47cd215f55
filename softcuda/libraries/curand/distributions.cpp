// distributions.cpp -- normal numbers.
#include "engine.h"
#include "inverse_normal.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace softcurand {
namespace {

template <class T> void transform(T u, T v, T *to) {
    const T radius = std::sqrt(T{-2} * std::log(u));
    const T angle = T{2} * std::numbers::pi_v<T> * v;
    to[0] = radius * std::sin(angle);
    to[1] = radius * std::cos(angle);
}

} // namespace

void box_muller(float u, float v, float *to) { transform(u, v, to); }
void box_muller(double u, double v, double *to) { transform(u, v, to); }

// A start of 4 digits (Abramowitz and Stegun, 26.2.23), and Halley's method, which triples the
// digits in each step.
double inverse_normal(double p) {
    if (p > 0.5)
        return -inverse_normal(1 - p);
    const double t = std::sqrt(-2 * std::log(p));
    double x = (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
               t;
    for (int step = 0; step < 2; ++step) {
        const double error = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p;
        const double u =
            error * std::sqrt(2 * std::numbers::pi) * std::exp(std::min(x * x / 2, 700.0));
        x -= u / (1 + x * u / 2);
    }
    return x;
}

} // namespace softcurand
