// modes.h -- the check modes.
#pragma once

#include <cstdint>
#include <string_view>

namespace softcuda::check {

/// Bits; as in scuSetCheckModes().
enum Mode : unsigned {
    Mem = 1,  ///< accesses outside allocated memory
    Race = 2, ///< two accesses without an order between them
    Init = 4, ///< reads of uninitialised memory
    Sync = 8, ///< barriers and warp exchanges that some threads do not reach
};
inline constexpr unsigned kAllModes = Mem | Race | Init | Sync;

/// The modes for kernels that are launched from now on. SOFTCUDA_CHECK sets the initial modes.
/// Throws std::invalid_argument if it contains an unknown mode.
[[nodiscard]] unsigned modes();
void set_modes(unsigned modes) noexcept;

/// Whether a failed kernel ends without making its context unusable: SOFTCUDA_CHECK_DESTROY is
/// "kernel" instead of "context", and mem is on. Throws std::invalid_argument for another word.
[[nodiscard]] bool fails_kernel_only();

/// Whether memory that nobody has freed is a finding: SOFTCUDA_CHECK_LEAKS is "yes", which it is by
/// default, and not "no". Throws std::invalid_argument for another word.
[[nodiscard]] bool finds_leaks();

/// The events that kernels must report for these modes: rt::WatchNeeds.
[[nodiscard]] std::uint32_t needs(unsigned modes) noexcept;

/// "mem,race"; "all" for all of them. Throws std::invalid_argument.
[[nodiscard]] unsigned parse_modes(std::string_view text);
[[nodiscard]] std::string_view name(Mode mode);

} // namespace softcuda::check
