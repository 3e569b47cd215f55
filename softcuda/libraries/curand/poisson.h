// poisson.h -- Poisson numbers from uniform ones.
#pragma once

#include <cstdint>
#include <vector>

namespace softcurand {

/// The distribution's sums of probabilities, in which a uniform number is searched.
class Poisson {
  public:
    explicit Poisson(double lambda);
    /// `uniform` is in (0, 1].
    [[nodiscard]] std::uint32_t number(double uniform) const;

  private:
    std::uint32_t first_;
    std::vector<double> sums_; ///< of the numbers first_, first_ + 1, ...
};

} // namespace softcurand
