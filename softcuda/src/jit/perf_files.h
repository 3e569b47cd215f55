// perf_files.h -- writes functions and lines of generated code for Linux' perf.
//
//     SOFTCUDA_PERF=map       /tmp/perf-PID.map: names of functions, for `perf report` and
//                             `perf top`
//     SOFTCUDA_PERF=jitdump   jit-PID.dump in SOFTCUDA_PERF_DIR or the current folder: names, code
//                             and lines, for `perf record -k mono` and `perf inject --jit`; VTune
//                             reads such a dump, too
//
// Only the user can access the files (mode 0600), and links are not followed. An error is reported
// once on stderr; programs continue.
#pragma once

#include "jit/code.h"
#include "jit/line_table.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace softcuda::jit {

/// Converts the name of a function in generated code to its name in the source.
using SourceName = std::function<std::string(std::string_view)>;

/// Writes the functions of an object if the environment requests it. Any thread may call, also in a
/// forked child, which gets separate files. Throws std::runtime_error if SOFTCUDA_PERF has another
/// value.
void write_perf_files(const Code &code, const LineTable &lines, const SourceName &name);

} // namespace softcuda::jit
