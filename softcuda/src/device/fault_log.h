// fault_log.h -- tells a person what went wrong in a kernel.
#pragma once

#include "rt/grid.h"

#include <string>

namespace softcuda::device {

/// Writes "softcuda: MESSAGE" to stderr and remembers it for last_fault_message().
void log_fault(const std::string &message);
/// The same without writing: for what the program itself asked for.
void note_fault(const std::string &message);
std::string last_fault_message();

/// What happened where: "kernel `add` wrote to 0x7f.. in block (3,0,0), warp 2: illegal address, 12
/// bytes after the 400-byte allocation at 0x7f..".
std::string describe_failure(const std::string &kernel, const rt::Grid::Failure &failure,
                             const rt::LaunchFrame &frame);

} // namespace softcuda::device
