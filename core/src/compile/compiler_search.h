// compiler_search.h -- where NVRTC, its headers and nvcc are on this machine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pycuda/compile_error.h"

namespace pycuda::compile_detail {

/// An NVRTC library, found without loading it.
struct NvrtcLocation {
    std::string library;
    /// CUDA's headers that belong to it; may be empty.
    std::vector<std::string> header_dirs;
    /// Differs whenever the library does: path, size and time of change.
    std::string identity;
};

/// There is no NVRTC on this machine.
class NvrtcNotFound : public CompileError {
  public:
    using CompileError::CompileError;
};

/// Looks in $PYCUDA_NVRTC (a file or a folder; nothing else is then tried), $CUDA_HOME,
/// $CUDA_PATH, the added search directories, the wheels beside libpycuda and in the active
/// Python environment, and the system's folders. Throws NvrtcNotFound, which lists them all, or
/// CompileError for a wrong $PYCUDA_NVRTC.
/// The answer is remembered until a setting changes.
[[nodiscard]] NvrtcLocation find_nvrtc();

/// The path of the first of these libraries in the places that find_nvrtc() looks at, and beside
/// NVRTC; then as the system's loader finds it. Empty where there is none.
[[nodiscard]] std::optional<std::string> find_toolkit_library(std::span<const char *const> names);

/// Throws the NvrtcNotFound that says what was looked for where, and what to install.
[[noreturn]] void throw_nvrtc_not_found(const std::vector<std::string> &roots);

/// The path of nvcc: `program` itself when it is a path, else from PATH, or, for plain "nvcc",
/// the toolkit's folders.
[[nodiscard]] std::optional<std::string> find_nvcc(const std::string &program);

/// "path:size:time", which changes when the file does.
[[nodiscard]] std::string file_identity(const std::string &path);

/// Everything in the environment that find_nvrtc() depends on, as one text.
[[nodiscard]] std::string search_settings();

[[nodiscard]] std::string environment(const char *name);

} // namespace pycuda::compile_detail
