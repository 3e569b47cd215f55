// modes.h -- what kernels are checked for.
#pragma once

#include <cstdint>
#include <string_view>

namespace softcuda::check {

/// Bits; as in scuSetCheckModes().
enum Mode : unsigned {
    Mem = 1,  ///< accesses outside of what was allocated
    Race = 2, ///< two accesses without an order between them
    Init = 4, ///< reads of what nobody has written
    Sync = 8, ///< barriers and meetings that not all come to
};
inline constexpr unsigned kAllModes = Mem | Race | Init | Sync;

/// Those for kernels launched from now on. SOFTCUDA_CHECK says which there are at first. Throws
/// std::invalid_argument for a word in it that is no mode.
[[nodiscard]] unsigned modes();
void set_modes(unsigned modes) noexcept;

/// Whether a kernel that fails ends alone, and its context goes on: SOFTCUDA_CHECK_DESTROY says
/// "kernel" instead of "context", and mem is on. Throws std::invalid_argument for another word.
[[nodiscard]] bool spares_context();

/// What kernels have to tell of for them: rt::WatchNeeds.
[[nodiscard]] std::uint32_t needs(unsigned modes) noexcept;

/// "mem,race"; "all" for all of them. Throws std::invalid_argument.
[[nodiscard]] unsigned parse_modes(std::string_view text);
[[nodiscard]] std::string_view name(Mode mode);

} // namespace softcuda::check
