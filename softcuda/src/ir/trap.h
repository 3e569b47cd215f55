// trap.h -- what a Trap instruction stands for: its Attributes::immediate.
#pragma once

#include <cstdint>

namespace softcuda::ir {

inline constexpr std::uint32_t kTrapAsked = 0;      ///< `trap` or `brkpt`
inline constexpr std::uint32_t kTrapNoFunction = 1; ///< a call through a pointer to no function

} // namespace softcuda::ir
