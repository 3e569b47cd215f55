// compiler_search.h -- searches NVRTC, its headers and nvcc on this machine.
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
    /// Identifies the library: path, size and modification time.
    std::string identity;
};

class NvrtcNotFound : public CompileError {
  public:
    using CompileError::CompileError;
};

/// Searches $PYCUDA_NVRTC (a file or a folder; if set, nothing else is searched), $CUDA_HOME,
/// $CUDA_PATH, the added search directories, the wheels beside libpycuda and in the active Python
/// environment, and the system's folders. Throws NvrtcNotFound with the list of searched places, or
/// CompileError for a wrong $PYCUDA_NVRTC. The result is cached until a setting changes.
[[nodiscard]] NvrtcLocation find_nvrtc();

/// The path of the first of these libraries that is found: in the places of find_nvrtc(), beside
/// NVRTC, then by the system's loader. Empty if none is found.
[[nodiscard]] std::optional<std::string> find_toolkit_library(std::span<const char *const> names);

/// The address of a symbol, which initialises a pointer to its function; null if it is missing.
struct SymbolAddress {
    void *address;
    template <class Function> operator Function *() const {
        return reinterpret_cast<Function *>(address);
    }
};

/// Throws NvrtcNotFound; the message lists the searched places and names the package to install.
[[noreturn]] void throw_nvrtc_not_found(const std::vector<std::string> &roots);

/// The path of nvcc: `program` itself if it is a path, else the result of a search in PATH and, for
/// "nvcc", in the toolkit's folders and in the wheel nvidia-cuda-nvcc.
[[nodiscard]] std::optional<std::string> find_nvcc(const std::string &program);

/// "path:size:time", which identifies the version of a file.
[[nodiscard]] std::string file_identity(const std::string &path);

/// All environment variables that find_nvrtc() depends on, as one text.
[[nodiscard]] std::string search_settings();

[[nodiscard]] std::string environment(const char *name);

} // namespace pycuda::compile_detail
