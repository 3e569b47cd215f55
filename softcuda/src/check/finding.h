// finding.h -- the findings of the checks, one for each pair of source lines.
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
    std::string kernel;      ///< if it differs from the finding's kernel
    bool by_command = false; ///< the access of a copy or fill, which has neither line nor thread
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
    bool is_read = false; ///< the program has read this finding
};

/// Adds a finding, or increments the count of an equal one: the same kind at the same lines of a
/// kernel. Findings that match SOFTCUDA_CHECK_SUPPRESS are dropped. Any thread may call.
void add(const Finding &finding);
/// Adds a sentence to the report about a legal property of a kernel, once for each text. Any thread
/// may call.
void add_note(const std::string &text);
void forget_findings();
/// Marks findings as read by the program, by their numbers in to_json(): to_text() leaves them out.
/// Unknown numbers are ignored.
void mark_read(std::span<const std::uint64_t> numbers);
[[nodiscard]] std::string to_json();
/// A report for a person of the findings that the program has not read. Empty if there are none.
/// Notes are not in it.
[[nodiscard]] std::string to_text();
/// Arranges that the findings are printed when the process ends, or written to the file that
/// SOFTCUDA_CHECK_JSON names. `last_look` is called once before.
void report_at_exit(void (*last_look)());

} // namespace softcuda::check
