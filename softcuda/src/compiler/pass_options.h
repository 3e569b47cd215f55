// pass_options.h -- the options of the passes in the environment.
//
//     SOFTCUDA_DUMP=schedule,waits      print the kernel after these passes, to stderr
//     SOFTCUDA_SKIP=split-pointers      skip these passes
//     SOFTCUDA_VERIFY=1                 check the IR after each pass; debug builds always do
//     SOFTCUDA_TIMES=1                  print the time of each pass, to stderr
//     SOFTCUDA_DEBUG=1                  compile all code for a debugger, not only NVRTC's -G
//
// The name of an unknown pass, and of a pass that cannot be skipped, is reported on stderr, once in
// a process, and otherwise ignored.
#pragma once

#include "compiler/pass_times.h"

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace softcuda::compiler {

struct PassInfo;

struct PassOptions {
    std::set<std::string, std::less<>> dump, skip;
    bool verify = false, debug = false;
    PassTimes::Print times = PassTimes::Print::No;

    /// `passes` are all passes, and `stages` the other names that can be printed.
    static PassOptions from_environment(std::span<const PassInfo> passes,
                                        std::span<const std::string_view> stages);

    [[nodiscard]] bool dumps(std::string_view name) const { return dump.contains(name); }
    [[nodiscard]] bool skips(std::string_view name) const { return skip.contains(name); }
};

/// Prints what SOFTCUDA_DUMP asks for, to stderr.
void print_dump(std::string_view title, const std::string &text);

} // namespace softcuda::compiler
