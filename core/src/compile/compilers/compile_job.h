// compile_job.h -- a prepared request for a compiler, and the outcome.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/compilers/compiler_options.h"
#include "compile/source/dependency.h"
#include "compile/source/include_scan.h"
#include "pycuda/compiler.h"

namespace pycuda::compile_detail {

struct CompileJob {
    const CompileRequest &request;
    CompilerOptions options;
    /// -I of the options, the request's folders, CUDA's headers, our kernel headers.
    std::vector<IncludeDirectory> include_path = {};
    /// The folder of the source, for `#include "..."`: the folder in its name, usually the current
    /// folder. Empty if the source does not depend on the folder.
    std::string source_directory = {};
    /// What the image depends on in addition to the source and its headers.
    std::string compiler_identity = {};
    /// The cache's folder; empty: nothing is kept there.
    std::string cache = {};
    /// The folder that keeps unpacked CUDA headers between runs; empty: they are not kept.
    std::string header_store = {};
    /// The folder that keeps the verdicts of host_code_includes.h between runs; empty: they are not
    /// kept.
    std::string verdict_store = {};
    bool keep = false;
    /// Whether nvcc can compile the job if NVRTC cannot.
    bool has_nvcc = false;
};

struct CompileOutcome {
    CompileResult result;
    DependencyList dependencies;
    /// If the result is machine code of NVRTC: the PTX that it was made of, and the major version
    /// of CUDA.
    std::string ptx = {};
    int cuda = 0;
    /// False if a header may be missing in the list of dependencies.
    bool cacheable = true;
};

/// A failure of NVRTC for a source that nvcc may compile.
class NeedsNvcc : public CompileError {
  public:
    using CompileError::CompileError;
};

/// An error that NVRTC reports in the text of a source.
class RefusedText : public CompileError {
  public:
    using CompileError::CompileError;
};

/// NVRTC does not know the type of a kernel's parameter.
class UnknownType : public NeedsNvcc {
  public:
    using NeedsNvcc::NeedsNvcc;
};

/// A failure with another message.
[[nodiscard]] inline CompileError with_message(const CompileError &error, std::string message) {
    CompileError changed(std::move(message), error.command_line(), error.standard_output(),
                         error.standard_error());
    changed.kept_in = error.kept_in;
    return changed;
}

/// Both throw CompileError; the first NeedsNvcc and RefusedText too.
[[nodiscard]] CompileOutcome compile_with_nvrtc(const CompileJob &job);
[[nodiscard]] CompileOutcome compile_with_nvcc(const CompileJob &job, const std::string &nvcc);

/// The files that the job's source and its -include headers include.
[[nodiscard]] IncludeScan scan_includes(const CompileJob &job,
                                        const std::vector<IncludeDirectory> &path,
                                        HeaderChanges changes = {});

/// The options and request's architecture together; the request's own fields win.
[[nodiscard]] struct RequestedArchitecture requested_architecture(const CompileJob &job);

/// The text that is passed to the compiler: the job's source, or a text in its place with the same
/// lines, wrapped in extern "C" if requested. With `all_outside`, the user's headers are outside
/// the wrap, too. With Precompile::Yes, the includes at the beginning come before all other text.
enum class Precompile { No, Yes };
[[nodiscard]] std::string prepare_source(const CompileJob &job, std::string_view source,
                                         bool all_outside, Precompile precompile);

/// The file name without folder and extension: "kernel" for "dir/kernel.cu".
[[nodiscard]] std::string stem_of(const std::string &name);

} // namespace pycuda::compile_detail
