// count_abi.h -- the part of kernel_abi.h that only profiled kernels need.
#pragma once

#include "rt/watch_abi.h"

#include <cstdint>

namespace softcuda::rt {

/// What instructions of a profiled kernel are counted as.
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

/// The instructions of one source line in one basic block of a profiled kernel. They lie in the
/// generated code's data, as the two structs below do.
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
    std::uint32_t bytes; ///< that each lane accesses
};

/// What one function of a profiled kernel counts.
struct CountTable {
    const CountedLine *lines;
    const CountedAccess *accesses;
    std::uint32_t line_count;
    std::uint32_t access_count;
};

/// How often a CountedLine was executed. Generated code adds to this.
struct LineCounts {
    std::uint64_t warps; ///< executions by a warp of which any lane was active
    std::uint64_t lanes; ///< the sum of the active lanes over these
};

} // namespace softcuda::rt

extern "C" {

// What profiled kernels tell (rt/counts.h).
/// At the start of a function: where it counts its lines.
softcuda::rt::LineCounts *scu_count_begin(softcuda::rt::WorkerState *,
                                          const softcuda::rt::CountTable *);
/// The lanes in `mask` are about to access `addresses`, of which there are 32, in the table's
/// access number `access`.
void scu_count_access(softcuda::rt::WorkerState *, const softcuda::rt::CountTable *,
                      std::uint32_t access, std::uint32_t mask, const std::uint64_t *addresses);
}
