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

/// What happened where: "kernel `add` failed at kernel.cu:5 in block (3,0,0), warp 2: illegal
/// address writing 0x7f.., 12 bytes after the 400-byte allocation at 0x7f..". `line` is the place
/// in the source, or empty.
std::string describe_failure(const std::string &kernel, const std::string &line,
                             const rt::Grid::Failure &failure, const rt::LaunchFrame &frame);

} // namespace softcuda::device
