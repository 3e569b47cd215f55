// inverse_normal.h -- normal numbers by the inverse of the distribution function.
#pragma once

#include <cstdint>

namespace softcurand {

/// The number below which a normal number is with the probability p, of (0, 1).
double inverse_normal(double p);

/// The same for a number of 32 bits, with the probability in the precision of T; the upper half by
/// symmetry.
template <class T> T inverse_normal_of(std::uint32_t bits) {
    const bool upper = bits > 0x80000000U;
    const T p = static_cast<T>(upper ? ~bits : bits) * T{0x1p-32} + T{0x1p-33};
    const T value = static_cast<T>(inverse_normal(static_cast<double>(p)));
    return upper ? -value : value;
}

} // namespace softcurand
