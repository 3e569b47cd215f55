// checked_memory.h -- the state of device memory for the checks (check/).
//
// All of it does nothing where no check mode is on.
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

/// What checks of kernels ask.
[[nodiscard]] check::MemoryMap &map();

/// Sets the modes for later work. Memory that was allocated before counts as initialised.
void set_modes(unsigned modes);

/// Called with the new allocation before anybody has its address.
void allocated(Allocation &allocation);
void freed(const Allocation &allocation);
/// A call of the program that frees `address`, which is no allocation's.
void refused_free(std::uint64_t address);
/// They begin now. `order`: of the command; null where races are not looked for.
void copied(const Copy &copy, const check::CommandOrder *order);
void filled(const Fill &fill, const check::CommandOrder *order);
void written(std::uint64_t address, std::uint64_t bytes);

/// A pool hands out a piece of an allocation, or gets it back.
void mark_block(std::uint64_t address, std::uint64_t bytes, bool taken);
/// Reports the memory of `context` that was not freed; null: of all contexts.
void find_leaks(const Context *context);
/// Has findings reported when the process ends, if a mode is on. Throws Error for a wrong
/// SOFTCUDA_CHECK.
void begin();
/// The line of the program that allocated: "program.py:12".
void note_allocation(std::uint64_t address, std::string where);

} // namespace checked_memory
} // namespace softcuda::device
