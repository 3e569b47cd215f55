// checked_memory.h -- the state of device memory for the checks (check/).
//
// The functions do nothing if no check mode is on.
#pragma once

#include "check/launch_checks.h"
#include "device/copy.h"

#include <cstdint>
#include <cuda.h>
#include <string>

namespace softcuda::device {

class Context;
struct Allocation;

namespace checked_memory {

/// The state of memory, for the checks of kernels.
[[nodiscard]] check::MemoryMap &map();

/// Sets the modes for later work. Memory that was allocated before counts as initialised.
void set_modes(unsigned modes);

/// Called with a new allocation before its address is known to any thread.
void allocated(Allocation &allocation);
void freed(const Allocation &allocation);
/// The program tried to free `address`, which is not the address of an allocation.
void refused_free(std::uint64_t address);
/// A copy or fill begins. `order`: of the command; null if races are not checked.
void copied(const Copy &copy, const check::CommandOrder *order);
void filled(const Fill &fill, const check::CommandOrder *order);
void written(std::uint64_t address, std::uint64_t bytes);

/// A pool allocates a part of an allocation, or frees it.
void mark_block(std::uint64_t address, std::uint64_t bytes, bool taken);
/// Reports memory of `context` that was not freed; null: of all contexts.
void find_leaks(const Context *context);
/// Requests a report of findings at the end of the process, if a mode is on. Throws Error for a
/// wrong SOFTCUDA_CHECK.
void begin();
/// Records the line of the program that allocated the memory: "program.py:12".
void note_allocation(std::uint64_t address, std::string where);

} // namespace checked_memory
} // namespace softcuda::device
