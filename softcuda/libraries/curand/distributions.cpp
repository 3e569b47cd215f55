// distributions.cpp -- normal numbers.
#include "engine.h"

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

} // namespace softcurand
