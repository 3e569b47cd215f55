// fault_log.h -- messages about failed kernels.
#pragma once

#include "compiler/program.h"
#include "rt/grid.h"

#include <abi/extensions.h>
#include <optional>
#include <string>

namespace softcuda::device {

/// Writes "softcuda: MESSAGE" to stderr and stores it for last_fault_message().
void log_fault(const std::string &message);
/// As above without printing, for a stop that the program requested.
void note_fault(const std::string &message);
std::string last_fault_message();

/// Stores the record of a fault for last_fault().
void remember_fault(const ScuFault &fault);
/// Empty if no kernel has failed.
std::optional<ScuFault> last_fault();

/// The variable that a failed kernel accessed, and its source line.
struct FaultPlace {
    compiler::SourcePlace source;
    std::optional<compiler::AccessedVariable> variable;
};

/// The record of a fault; its message is that of describe_failure().
ScuFault record_of(const std::string &kernel, CUresult result, const FaultPlace &place,
                   const rt::Grid::Failure &failure, const rt::LaunchFrame &frame);

/// The message: "kernel `add` failed at kernel.cu:5 in block (3,0,0), warp 2: illegal address
/// writing 0x7f.., 12 bytes after the 400-byte allocation at 0x7f..".
std::string describe_failure(const std::string &kernel, const FaultPlace &place,
                             const rt::Grid::Failure &failure, const rt::LaunchFrame &frame);

} // namespace softcuda::device
