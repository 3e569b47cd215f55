// implicit_names.h -- names that a source has with nvcc, without an include, and not with NVRTC.
//
// nvcc puts <cuda_runtime.h> before every source, and with it much of the host's <math.h>,
// <limits.h> and <sys/types.h>. Kernels rely on it: `uint`, M_PI, INT_MAX, INFINITY, std::abs.
// NVRTC has none of these. Only what a failed compilation misses is declared, so that nothing gets
// in the way of a source's own names.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace pycuda::compile_detail {

/// The names that the log says to be missing and that nvcc would have: "M_PI", "std::abs".
[[nodiscard]] std::set<std::string> missing_implicit_names(std::string_view log);

/// What to compile before a source.
struct ImplicitDeclarations {
    std::string text;
    std::set<std::string> headers; ///< stand-ins that it includes; see standard_headers.h
};

[[nodiscard]] ImplicitDeclarations declare_implicit_names(const std::set<std::string> &names);

} // namespace pycuda::compile_detail
