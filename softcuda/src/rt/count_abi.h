// count_abi.h -- the part of kernel_abi.h that only profiled kernels need.
#pragma once

#include "rt/watch_abi.h"

#include <cstdint>

namespace softcuda::rt {

/// The classes of instructions in a profile.
enum class InstructionClass : std::uint32_t {
#define INSTRUCTION_CLASS(Name, text) Name,
#include "rt/instruction_classes.def"
#undef INSTRUCTION_CLASS
};
inline constexpr unsigned kInstructionClasses = 0
#define INSTRUCTION_CLASS(Name, text) +1
#include "rt/instruction_classes.def"
#undef INSTRUCTION_CLASS
    ;

/// The instructions of one source line in one basic block of a profiled kernel. Stored in the data
/// of the generated code, like the two structs below.
struct CountedLine {
    const char *file;
    std::uint32_t line;
    std::uint32_t instructions[kInstructionClasses]; ///< by InstructionClass
};

/// An instruction of a profiled kernel that accesses memory.
struct CountedAccess {
    const char *file;
    std::uint32_t line;
    WatchKind kind;
    WatchSpace space;
    std::uint32_t bytes; ///< accessed by each lane
};

/// The counters of one function of a profiled kernel.
struct CountTable {
    const CountedLine *lines;
    const CountedAccess *accesses;
    std::uint32_t line_count;
    std::uint32_t access_count;
};

/// How often a CountedLine was executed. Generated code adds to this.
struct LineCounts {
    std::uint64_t warps; ///< executions by a warp with at least one active lane
    std::uint64_t lanes; ///< the sum of the active lanes over these executions
};

} // namespace softcuda::rt

extern "C" {

// The calls of profiled kernels (rt/counts.h).
/// Called at the start of a function. Returns the counters of its lines.
softcuda::rt::LineCounts *scu_count_begin(softcuda::rt::WorkerState *,
                                          const softcuda::rt::CountTable *);
/// Called before an access: the lanes in `mask` will access `addresses`, an array of 32; `access`
/// is the number of the access in the table.
void scu_count_access(softcuda::rt::WorkerState *, const softcuda::rt::CountTable *,
                      std::uint32_t access, std::uint32_t mask, const std::uint64_t *addresses);
}
