// precompiled_headers.h -- where NVRTC keeps precompiled headers, and for which sources.
//
// A precompiled header is valid for the process that made it, because it contains addresses of the
// compiler's memory. So each process has a folder, which is removed when the process ends. The
// folders of processes that were killed are removed by the next process that needs one.
#pragma once

#include <string>

#include "compile/source/include_scan.h"

namespace pycuda::compile_detail {

/// Whether the headers of a source are so large that a precompiled header saves more time than the
/// making of it costs, if a second source has the same headers.
[[nodiscard]] bool has_large_headers(const IncludeScan &scan);

/// The folder for precompiled headers that are made without the user's request, below the cache's
/// folder. `headers` identifies the headers and the options of a source. Empty if the precompiled
/// headers of all processes take too much space already, or if the folder cannot be made.
[[nodiscard]] std::string folder_for_precompiled_headers(const std::string &cache,
                                                         const std::string &headers);

} // namespace pycuda::compile_detail
