// source_wrap.h -- putting a source into extern "C" without moving its line numbers.
//
// PyCUDA's users write plain kernels and look them up by their plain names, so their source is
// wrapped in extern "C". A header with templates does not survive that; CUDA's own headers are
// therefore taken out of the wrap where they are included:
//
//     #include <cuda_fp16.h>          extern "C" {
//     __global__ void f() {}          #line 1 "kernel.cu"
//                                     extern "C++" {
//                              =>     #line 1 "kernel.cu"
//                                     #include <cuda_fp16.h>
//                                     }
//                                     #line 2 "kernel.cu"
//                                     __global__ void f() {}
//                                     }
//
// The user's own headers stay inside, so that kernels in them keep plain names too.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "source_text.h"

namespace pycuda::compile_detail {

using IsOutside = std::function<bool(const IncludeDirective &)>;

/// How many bytes the directives take with which the source begins, up to the last include that
/// `is_outside` takes out of the wrap: what NVRTC can make a precompiled header of. Zero where the
/// source begins otherwise.
[[nodiscard]] std::size_t leading_directives(std::string_view source, const IsOutside &is_outside);

/// Wraps `source`, but for its first `leading` bytes. `is_outside` says which includes to take out
/// of the wrap; only includes that stand in no braces are asked about.
[[nodiscard]] std::string wrap_in_extern_c(std::string_view source, std::string_view name,
                                           const IsOutside &is_outside, std::size_t leading = 0);

/// The source as it is, under the given name in messages after its first `leading` bytes: a #line
/// before them would keep NVRTC from making a precompiled header.
[[nodiscard]] std::string name_source(std::string_view source, std::string_view name,
                                      std::size_t leading = 0);

} // namespace pycuda::compile_detail
