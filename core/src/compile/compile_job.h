// compile_job.h -- a request made ready for a compiler, and what comes back from it.
#pragma once

#include <string>
#include <vector>

#include "compiler_options.h"
#include "dependency.h"
#include "include_scan.h"
#include "pycuda/compiler.h"

namespace pycuda::compile_detail {

struct CompileJob {
    const CompileRequest &request;
    CompilerOptions options;
    /// -I of the options, the request's folders, CUDA's headers, our kernel headers.
    std::vector<IncludeDirectory> include_path;
    /// Where the source stands, for `#include "..."`: the folder of its name, as a rule the
    /// current one. Empty when the source does not depend on it.
    std::string source_directory;
    /// What the image depends on beside the source and its headers.
    std::string compiler_identity;
    /// Where unpacked CUDA headers are kept between runs; empty: nowhere.
    std::string header_store;
    bool keep = false;
};

struct CompileOutcome {
    CompileResult result;
    DependencyList dependencies;
    /// False where a header may have escaped the list of dependencies.
    bool cacheable = true;
};

/// A failure of NVRTC over something that nvcc can do.
class NeedsNvcc : public CompileError {
  public:
    using CompileError::CompileError;
};

/// Both throw CompileError; the first NeedsNvcc too.
[[nodiscard]] CompileOutcome compile_with_nvrtc(const CompileJob &job);
[[nodiscard]] CompileOutcome compile_with_nvcc(const CompileJob &job, const std::string &nvcc);

/// Which files the job's source and its -include headers include.
[[nodiscard]] IncludeScan scan_includes(const CompileJob &job,
                                        const std::vector<IncludeDirectory> &path);

/// The options and request's architecture together; the request's own fields win.
[[nodiscard]] struct ArchitectureWish wished_architecture(const CompileJob &job);

/// The source as the compiler gets it: wrapped in extern "C" where that is asked for.
/// `all_outside` takes also the user's headers out of the wrap.
[[nodiscard]] std::string prepare_source(const CompileJob &job, bool all_outside);

/// The name's last part without its ending: "kernel" for "dir/kernel.cu".
[[nodiscard]] std::string stem_of(const std::string &name);

} // namespace pycuda::compile_detail
