// profile.h -- the profile: counters of kernels, and a timeline of streams.
#pragma once

#include <string>

namespace pycuda {

/// Modes of the profile are bits; several can be on.
namespace profile_mode {
inline constexpr unsigned timeline = 1; ///< when kernels, copies and waits began and ended
inline constexpr unsigned counters = 2; ///< what kernels executed and accessed, by source line
inline constexpr unsigned all = timeline | counters;
} // namespace profile_mode

/// The modes that are on; 0 for a driver that has no profile. Any thread may call.
[[nodiscard]] unsigned profile_modes();

/// Turns modes on for what is launched from now on, and the others off. An NVIDIA driver has the
/// timeline alone, by CUPTI. Throws Error (not supported) where the driver has no such mode, and
/// std::runtime_error for what CUPTI refuses.
void set_profile_modes(unsigned modes);

/// The record so far, as JSON text. Throws as set_profile_modes().
[[nodiscard]] std::string profile_report();

/// Empties the record. Throws as set_profile_modes().
void forget_profile();

} // namespace pycuda
