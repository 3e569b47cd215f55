// check_modes.h -- the check modes of softcuda: accesses, races, initialisation, barriers.
#pragma once

#include <abi/driver_types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pycuda {

/// Check modes are bits; several can be on.
namespace check_mode {
inline constexpr unsigned mem = 1;  ///< accesses outside allocated memory, use after free, leaks
inline constexpr unsigned race = 2; ///< unordered accesses of two threads
inline constexpr unsigned init = 4; ///< reads of uninitialised memory
inline constexpr unsigned sync = 8; ///< barriers that some threads do not reach, wrong member masks
inline constexpr unsigned all = mem | race | init | sync;
} // namespace check_mode

/// The bits of a list such as "mem,race"; "all" is every mode. Throws Error (invalid value) for
/// another name, with `where` as the function in the message.
unsigned parse_check_modes(std::string_view names, const char *where);

/// The modes that are on; 0 for a driver that has no check modes. Any thread may call.
[[nodiscard]] unsigned check_modes();

/// Sets the modes for kernels that are launched from now on. Throws Error (not supported) if the
/// driver has no check modes.
void set_check_modes(unsigned modes);

/// All findings so far, as JSON text. Throws as set_check_modes().
[[nodiscard]] std::string check_report();

/// Marks findings as read by the program: softcuda does not print them when the process ends.
/// `numbers` are those that check_report() gives them. Throws as set_check_modes().
void mark_findings_read(std::span<const std::uint64_t> numbers);

/// Empties the list of findings. Throws as set_check_modes().
void forget_findings();

/// Tells the mode init that this device memory is initialised: the host may have written it
/// directly, which is possible on a software device. Does nothing if the driver has no check modes.
void mark_written(CUdeviceptr address, std::size_t bytes);

/// Returns the line of the program that allocates, as "file:line", or an empty text if it is
/// unknown. Called in the thread that allocates, without locks. May throw; the memory is then
/// freed.
using CallSite = std::string (*)();

/// Sets the function that leak reports call for the program's line; null removes it.
void set_call_site(CallSite call_site) noexcept;

} // namespace pycuda
