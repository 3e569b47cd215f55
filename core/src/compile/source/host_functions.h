// host_functions.h -- functions and variables of the host in a source with kernels.
//
// nvcc compiles whole programs: main(), functions that allocate, copy and launch, variables of the
// C++ library. For the device it drops them. NVRTC compiles them for the device, too, and refuses
// a call such as cudaMalloc() or kernel<<<1, 32>>>(). Each such definition in which NVRTC reports
// an error is removed; a kernel cannot call it. Line numbers do not change. Members of classes are
// in host_classes.h.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "compile/source/namespace_scope.h"

namespace pycuda::compile_detail {

/// Numbers of lines, from 1, by the names of files in the compiler's messages.
class ReportedLines {
  public:
    /// Adds the lines of the errors of a log, `kernel.cu(3): error: ...`, that have this phrase.
    /// False if all were known.
    bool add(std::string_view log, std::string_view phrase = "");
    /// Whether one of the lines from `first` to `last` of the file is known.
    [[nodiscard]] bool any(std::string_view file, std::size_t first, std::size_t last) const;
    [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }

  private:
    std::map<std::string, std::set<std::size_t>, std::less<>> lines_;
};

/// What the compiler said about code of the host.
struct HostCode {
    ReportedLines definitions;       ///< of functions and variables that are for the host
    ReportedLines errors;            ///< that were left when all was compiled for the device
    ReportedLines errors_again;      ///< that were left without the functions that have errors
    ReportedLines last_errors;       ///< that were left without the members that have errors
    SpecifierMacros macros;          ///< of the source and the user's headers
    bool has_all_definitions = true; ///< false if NVRTC stopped after 100 errors

    /// False if the log has no new error.
    bool add_errors(std::string_view log) { return errors.add(log); }
    /// False if the log has no new error behind a removal of parts of classes.
    bool add_errors_of_classes(std::string_view log) {
        return errors_again.add(log) || last_errors.add(log);
    }
    /// Names that are unknown when functions are for the host are unknown for the device, too.
    void add_unknown_names(std::string_view log) {
        errors.add(log, "\" is undefined");
        errors.add(log, "has no member \"");
    }
    void add_definitions(std::string_view log) {
        definitions.add(log, "not allowed in JIT mode");
        has_all_definitions = log.find("rror limit reached") == std::string_view::npos;
    }
};

/// What was removed from texts.
struct RemovedHostCode {
    std::set<std::string> names;   ///< that functions and variables may have declared
    std::set<std::string> classes; ///< that are only declared now, and their variables
    bool has_class = false;        ///< whether an error is in a class
};

/// Removes from the text of a file the definitions of the host that have an error. A definition
/// stays if a macro may hide that it is a kernel, as in `KERNEL void f()`, or if a word of its head
/// may be a misspelt __global__.
[[nodiscard]] std::string remove_host_code(std::string_view text, std::string_view file,
                                           const HostCode &code, RemovedHostCode &removed);

/// Whether an error of the log can be the consequence of the removal.
[[nodiscard]] bool misses_one_of(const RemovedHostCode &removed, std::string_view log);

} // namespace pycuda::compile_detail
