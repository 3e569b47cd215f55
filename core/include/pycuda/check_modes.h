// check_modes.h -- what softcuda watches in kernels: accesses, races, initialisation, barriers.
#pragma once

#include <abi/driver_types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace pycuda {

/// Check modes are bits; several can be on.
namespace check_mode {
inline constexpr unsigned mem = 1;  ///< accesses outside of memory, use after free, leaks
inline constexpr unsigned race = 2; ///< accesses of two threads without order between them
inline constexpr unsigned init = 4; ///< reads of memory that nobody wrote
inline constexpr unsigned sync = 8; ///< barriers that not all reach, wrong member masks
inline constexpr unsigned all = mem | race | init | sync;
} // namespace check_mode

/// The bits of "mem,race" and the like; "all" is every mode. Throws Error (invalid value) for
/// another name; `where` names the place of the list in the message.
unsigned parse_check_modes(std::string_view names, const char *where);

/// The modes that are on; 0 for a driver that has no check modes. Any thread may call.
[[nodiscard]] unsigned check_modes();

/// Turns modes on for kernels that are launched from now on, and the others off. Throws Error (not
/// supported) where the driver has no check modes.
void set_check_modes(unsigned modes);

/// All findings so far, as JSON text. Throws as set_check_modes().
[[nodiscard]] std::string check_report();

/// Empties the list of findings. Throws as set_check_modes().
void forget_findings();

/// The host may have written this device memory as its own, which a software device allows: init
/// takes it as written. Does nothing where the driver has no check modes.
void mark_written(CUdeviceptr address, std::size_t bytes);

/// Which line of the program allocates, as "file:line"; empty where nobody knows. It is called in
/// the thread that allocates, without locks, and may throw: the memory is then given back.
using CallSite = std::string (*)();

/// Leaks are reported with what this function returns. Null: without a line.
void set_call_site(CallSite call_site) noexcept;

} // namespace pycuda
