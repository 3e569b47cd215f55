// finding.h -- what the checks have found, once for each pair of lines.
#pragma once

#include "check/modes.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace softcuda::check {

enum class Kind {
    ReadAfterWrite,
    WriteAfterRead,
    WriteAfterWrite,
    AtomicAndPlain,
    OutOfBounds,
    UseAfterFree,
    Misaligned,
    Null,
    DoubleFree,
    InvalidFree,
    Leak,
    Uninitialized,
    DivergentBarrier,
    WrongMask,
    MissingSyncwarp,
};
/// "read-after-write".
[[nodiscard]] const char *name(Kind kind);

/// One of the accesses that a finding is about.
struct FoundAccess {
    std::string what; ///< "write", "read", "atomic access", "barrier", ...
    std::string file;
    std::uint32_t line = 0;
    std::array<std::uint32_t, 3> block{}, thread{};
    std::uint64_t bytes = 0;
    std::string kernel;      ///< where it is another than the finding's
    bool by_command = false; ///< a copy or fill: it has neither line nor thread
};

struct Finding {
    Mode mode = Mem;
    Kind kind = Kind::OutOfBounds;
    std::string kernel;
    std::string space;  ///< "global", "shared", "local", or nothing
    std::string array;  ///< in words
    std::string detail; ///< a sentence that explains it
    std::vector<FoundAccess> accesses;
    std::uint64_t count = 1;
    bool told = false; ///< the program knows of it
};

/// Adds it, or counts the same one up: of the same kind in the same lines of a kernel. Those that
/// SOFTCUDA_CHECK_SUPPRESS names are dropped. Any thread.
void add(const Finding &finding);
void forget_findings();
/// The program has read these findings, which to_json() numbers: to_text() leaves them out. Other
/// numbers mean nothing.
void mark_told(std::span<const std::uint64_t> numbers);
[[nodiscard]] std::string to_json();
/// For a person: those that the program does not know of. Empty where there are none.
[[nodiscard]] std::string to_text();
/// Prints them when the process ends; or, where SOFTCUDA_CHECK_JSON names a file, writes it. Before
/// that `last_look` is called, once.
void report_at_exit(void (*last_look)());

} // namespace softcuda::check
