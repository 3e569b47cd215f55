// modes.h -- what is recorded of kernels and streams.
#pragma once

#include <string_view>

namespace softcuda::profile {

/// Bits; as in scuSetProfileModes().
enum Mode : unsigned {
    Timeline = 1, ///< when kernels, copies, host functions and waits began and ended
    Counters = 2, ///< what kernels executed and accessed, by source line
};
inline constexpr unsigned kAllModes = Timeline | Counters;

/// Those from now on. SOFTCUDA_PROFILE says which there are at first. Throws std::invalid_argument
/// for a word in it that is no mode.
[[nodiscard]] unsigned modes();
void set_modes(unsigned modes) noexcept;

/// "timeline,counters"; "all" for both. Throws std::invalid_argument.
[[nodiscard]] unsigned parse_modes(std::string_view text);

} // namespace softcuda::profile
