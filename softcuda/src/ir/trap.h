// trap.h -- the cause of a Trap instruction: its Attributes::immediate.
#pragma once

#include <cstdint>

namespace softcuda::ir {

inline constexpr std::uint32_t kTrapAsked = 0; ///< `trap` or `brkpt`
inline constexpr std::uint32_t kTrapNoFunction =
    1; ///< a call through a pointer that is not a function
inline constexpr std::uint32_t kTrapNoInstruction = 2; ///< an instruction that the device lacks

} // namespace softcuda::ir
