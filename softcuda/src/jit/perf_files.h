// perf_files.h -- tells Linux' perf which function and line generated code is for.
//
//     SOFTCUDA_PERF=map       /tmp/perf-PID.map: names of functions, for `perf report` and `perf
//     top` SOFTCUDA_PERF=jitdump   jit-PID.dump in SOFTCUDA_PERF_DIR or the current folder: names,
//     code and
//                             lines, for `perf record -k mono` and `perf inject --jit`; VTune reads
//                             such a dump, too
//
// Files belong to the user alone (mode 0600), and links are not followed. What cannot be written is
// said once on stderr; programs run as before.
#pragma once

#include "jit/code.h"
#include "jit/line_table.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace softcuda::jit {

/// The name of a function in the source, for its name in generated code.
using SourceName = std::function<std::string(std::string_view)>;

/// Writes down the functions of an object, if the environment asks for it. May be called by any
/// thread, and by a forked child, which gets files of its own. Throws std::runtime_error if
/// SOFTCUDA_PERF is neither of the words.
void tell_perf(const Code &code, const LineTable &lines, const SourceName &name);

} // namespace softcuda::jit
