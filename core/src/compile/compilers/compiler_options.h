// compiler_options.h -- translates options of nvcc to options of NVRTC.
#pragma once

#include <string>
#include <vector>

namespace pycuda::compile_detail {

/// The content of a list of nvcc options.
struct CompilerOptions {
    /// In NVRTC's spelling, without the architecture and the include path.
    std::vector<std::string> nvrtc;
    /// The -I and -isystem folders, absolute, in order.
    std::vector<std::string> include_dirs;
    /// The headers of -include, which come before the source; they are in `nvrtc` too.
    std::vector<std::string> pre_includes;
    /// From -arch, -code or a single -gencode; empty if absent or "native".
    std::string arch;
    std::string code;
    /// Whether any of -arch, -code and -gencode was given.
    bool names_architecture = false;
    /// Options that only nvcc supports, unchanged.
    std::vector<std::string> only_nvcc;
    /// Whether the options request a report of ptxas (-Xptxas -v, --resource-usage).
    bool wants_ptxas_report = false;
    /// Whether the options contain -pch: NVRTC's automatic precompiled headers.
    bool wants_precompiled_headers = false;
    bool keep = false;
};

/// Translates the options. Options for the host compiler and the linker are dropped; unknown
/// options are passed on to NVRTC. Throws CompileError for an option without its value, and for
/// options that select the output (-o, -E, --ptx).
[[nodiscard]] CompilerOptions translate_options(const std::vector<std::string> &options);

} // namespace pycuda::compile_detail
