// compiler_options.h -- options as users write them for nvcc, turned into NVRTC's.
#pragma once

#include <string>
#include <vector>

namespace pycuda::compile_detail {

/// What a list of nvcc options asks for.
struct CompilerOptions {
    /// In NVRTC's spelling, without the architecture and the include path.
    std::vector<std::string> nvrtc;
    /// The -I and -isystem folders, absolute, in order.
    std::vector<std::string> include_dirs;
    /// The headers of -include, which come before the source; they are in `nvrtc` too.
    std::vector<std::string> pre_includes;
    /// From -arch, -code or a single -gencode; empty when not given or "native".
    std::string arch;
    std::string code;
    /// Whether any of -arch, -code and -gencode was given.
    bool names_architecture = false;
    /// Options that only nvcc can honour, as they were written.
    std::vector<std::string> only_nvcc;
    /// Whether ptxas is asked to report (-Xptxas -v, --resource-usage).
    bool wants_ptxas_report = false;
    /// Whether -pch is among them, NVRTC's automatic precompiled headers.
    bool wants_precompiled_headers = false;
    /// Whether -keep is among them.
    bool keep = false;
};

/// Translates the options. Those that concern only the host compiler or the linker are dropped;
/// unknown ones are passed on, for NVRTC to judge. Throws CompileError for an option without
/// its value, and for one that would change what the compilation produces (-o, -E, --ptx).
[[nodiscard]] CompilerOptions translate_options(const std::vector<std::string> &options);

} // namespace pycuda::compile_detail
