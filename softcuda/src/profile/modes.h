// modes.h -- the profile modes.
#pragma once

#include <string_view>

namespace softcuda::profile {

/// Bits; as in scuSetProfileModes().
enum Mode : unsigned {
    Timeline = 1, ///< when kernels, copies, host functions and waits began and ended
    Counters = 2, ///< instructions and accesses of kernels, by source line
};
inline constexpr unsigned kAllModes = Timeline | Counters;

/// The modes from now on. SOFTCUDA_PROFILE sets the initial modes. Throws std::invalid_argument if
/// it contains an unknown mode.
[[nodiscard]] unsigned modes();
void set_modes(unsigned modes) noexcept;

/// "timeline,counters"; "all" for both. Throws std::invalid_argument.
[[nodiscard]] unsigned parse_modes(std::string_view text);

} // namespace softcuda::profile
