// nvrtc_library.h -- NVIDIA's run-time compiler, opened when it is first used.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compile/compilers/compiler_search.h"

namespace pycuda::compile_detail {

struct NvrtcJob {
    std::string source;
    std::string name;
    std::vector<std::string> options;
    /// Texts of headers that the compiler finds without a file, by name. NVRTC refuses two headers
    /// of one name.
    std::map<std::string, const char *> headers;
    std::vector<std::string> name_expressions;
};

struct NvrtcOutcome {
    enum class Status { Ok, Failed, BadOption };
    Status status = Status::Failed;
    std::string log;
    std::string ptx;
    std::string cubin;
    std::string lto_ir;
    std::vector<std::pair<std::string, std::string>> lowered_names;
};

/// An opened libnvrtc. Any thread may call.
class NvrtcLibrary {
  public:
    /// Opens the library, or returns the one that was opened from this path before. It is never
    /// closed. Throws CompileError.
    static const NvrtcLibrary &open(const NvrtcLocation &location);

    /// "NVRTC 13.5"
    [[nodiscard]] const std::string &name() const noexcept { return name_; }
    /// 13 for NVRTC 13.5.
    [[nodiscard]] int major_version() const noexcept { return major_version_; }
    /// Whether the compiler has the option --minimal.
    [[nodiscard]] bool has_minimal_builtins() const noexcept { return has_minimal_builtins_; }
    /// Compute capabilities (86 for 8.6), ascending.
    [[nodiscard]] const std::vector<int> &architectures() const noexcept { return architectures_; }

    [[nodiscard]] NvrtcOutcome compile(const NvrtcJob &job) const;

    /// Unpacks the CUDA headers that newer versions of NVRTC contain to `folder`, unless they exist
    /// already. Several processes may call it at the same time. False if the library contains no
    /// headers.
    bool install_headers(const std::string &folder) const;

    /// Whether the compiler has the option --pch.
    [[nodiscard]] bool has_precompiled_headers() const noexcept {
        return set_pch_heap_size_ != nullptr;
    }
    /// Sets the memory for precompiled headers of large libraries, if this NVRTC supports them.
    void allow_large_precompiled_headers() const;

  private:
    using Program = struct _nvrtcProgram *;
    using Result = int;
    class ProgramOwner;

    explicit NvrtcLibrary(const std::string &path);
    SymbolAddress find(const char *symbol) const noexcept;
    void read_architectures();
    void check(Result result, const char *function) const;
    template <class Size, class Get> std::string fetch(Program program, Size size, Get get) const;
    void fetch_images(Program program, const NvrtcJob &job, NvrtcOutcome &outcome) const;

    void *library_;
    std::string name_;
    int major_version_ = 0;
    bool has_minimal_builtins_ = false;
    std::vector<int> architectures_;

    const char *(*const get_error_string_)(Result) = find("nvrtcGetErrorString");
    Result (*const version_)(int *, int *) = find("nvrtcVersion");
    Result (*const num_supported_archs_)(int *) = find("nvrtcGetNumSupportedArchs");
    Result (*const supported_archs_)(int *) = find("nvrtcGetSupportedArchs");
    Result (*const create_program_)(Program *, const char *, const char *, int, const char *const *,
                                    const char *const *) = find("nvrtcCreateProgram");
    Result (*const destroy_program_)(Program *) = find("nvrtcDestroyProgram");
    Result (*const compile_program_)(Program, int,
                                     const char *const *) = find("nvrtcCompileProgram");
    Result (*const log_size_)(Program, std::size_t *) = find("nvrtcGetProgramLogSize");
    Result (*const log_)(Program, char *) = find("nvrtcGetProgramLog");
    Result (*const ptx_size_)(Program, std::size_t *) = find("nvrtcGetPTXSize");
    Result (*const ptx_)(Program, char *) = find("nvrtcGetPTX");
    Result (*const cubin_size_)(Program, std::size_t *) = find("nvrtcGetCUBINSize");
    Result (*const cubin_)(Program, char *) = find("nvrtcGetCUBIN");
    Result (*const add_name_expression_)(Program, const char *) = find("nvrtcAddNameExpression");
    Result (*const lowered_name_)(Program, const char *,
                                  const char **) = find("nvrtcGetLoweredName");
    // Not in every version; null if missing.
    Result (*const lto_ir_size_)(Program, std::size_t *) = find("nvrtcGetLTOIRSize");
    Result (*const lto_ir_)(Program, char *) = find("nvrtcGetLTOIR");
    Result (*const install_headers_)(const char *, unsigned,
                                     const char **) = find("nvrtcInstallBundledHeaders");
    Result (*const set_pch_heap_size_)(std::size_t) = find("nvrtcSetPCHHeapSize");
};

/// Pointers to the texts, for functions of C.
std::vector<const char *> c_strings(const std::vector<std::string> &texts);

/// A text that a library returns, without the zero bytes at its end.
std::string without_terminator(std::string text);

} // namespace pycuda::compile_detail
