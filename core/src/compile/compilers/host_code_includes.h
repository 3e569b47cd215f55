// host_code_includes.h -- the includes of sources that only nvcc compiles.
//
// If a header has host code, NVRTC reads all headers again for each remedy, and fails after
// seconds. It fails again for the next source with the same includes, so nvcc compiles such a
// source at once. Packages whose kernels all include Thrust compile in half of the time.
#pragma once

#include "compile/compilers/compile_job.h"

#include <string>
#include <string_view>
#include <vector>

namespace pycuda::compile_detail {

/// The headers of the host that the source includes outside of #if: <vector>, <iostream>.
[[nodiscard]] std::vector<std::string> host_headers_of(std::string_view source);

/// Remembers the includes of the job's source if `failure` is an error in a header, not in the
/// source. Call it after nvcc has compiled the source.
void remember_host_code(const CompileJob &job, const CompileError &failure);

/// Whether NVRTC found host code in a header of another source with the same includes, the same
/// folders of headers and the same options, in this process or, with a store, in an earlier one.
[[nodiscard]] bool is_known_host_code(const CompileJob &job);

} // namespace pycuda::compile_detail
