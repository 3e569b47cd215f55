// poisson.cpp -- the table of a Poisson distribution.
#include "poisson.h"

#include <algorithm>
#include <cmath>

namespace softcurand {

// All numbers whose probability is not negligible: twelve deviations around the mean.
Poisson::Poisson(double lambda) {
    const double width = 12 * std::sqrt(lambda) + 30;
    const double last = std::min(std::floor(lambda + width), 4294967295.0);
    first_ = static_cast<std::uint32_t>(std::max(0.0, std::floor(lambda - width)));
    double sum = 0;
    for (double k = first_; k <= last; ++k)
        sums_.push_back(sum += std::exp(k * std::log(lambda) - lambda - std::lgamma(k + 1)));
    for (double &each : sums_)
        each /= sum;
}

std::uint32_t Poisson::number(double uniform) const {
    const auto found = std::lower_bound(sums_.begin(), sums_.end() - 1, uniform);
    return first_ + static_cast<std::uint32_t>(found - sums_.begin());
}

} // namespace softcurand
