// implicit_names.h -- names that nvcc declares without an include, and NVRTC does not.
//
// nvcc includes <cuda_runtime.h> before every source, and with it much of the host's <math.h>,
// <limits.h> and <sys/types.h>. Kernels use these names: `uint`, M_PI, INT_MAX, INFINITY, std::abs.
// NVRTC does not declare them. Only names that are missing in a failed compilation, and macros that
// a directive asks for, are declared, so that the declarations do not conflict with names of the
// source.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace pycuda::compile_detail {

/// The macros that nvcc defines and that a directive of the source asks for: M_PI of `#ifndef
/// M_PI`. `blanked` is blank_comments_and_strings() of the source.
[[nodiscard]] std::set<std::string> implicit_macros_asked_for(std::string_view blanked);

/// The names that are missing according to the log, and that nvcc declares: "M_PI", "std::abs".
[[nodiscard]] std::set<std::string> missing_implicit_names(std::string_view log);

/// The declarations to insert before a source.
struct ImplicitDeclarations {
    std::string text;
    std::set<std::string>
        headers; ///< replacement headers that the text includes; see standard_headers.h
};

[[nodiscard]] ImplicitDeclarations declare_implicit_names(const std::set<std::string> &names);

} // namespace pycuda::compile_detail
