// source_wrap.h -- wraps a source in extern "C" without changing its line numbers.
//
// PyCUDA's users look up kernels by their plain names, so the source is wrapped in extern "C".
// Templates are not allowed in extern "C", so the includes of CUDA's own headers are outside the
// wrap:
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
// The user's own headers stay inside the wrap, so that their kernels have plain names, too.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compile/source/source_text.h"

namespace pycuda::compile_detail {

using IsOutside = std::function<bool(const IncludeDirective &)>;

/// The number of bytes of the directives at the begin of the source, up to the last include for
/// which `is_outside` is true. NVRTC can make a precompiled header of this part. Zero if the source
/// begins with other text.
[[nodiscard]] std::size_t leading_directives(std::string_view source, const IsOutside &is_outside);

/// Wraps `source` except for its first `leading` bytes. Includes for which `is_outside` is true are
/// outside the wrap; it is called only for includes outside braces.
[[nodiscard]] std::string wrap_in_extern_c(std::string_view source, std::string_view name,
                                           const IsOutside &is_outside, std::size_t leading = 0);

/// The unwrapped source with a #line directive, which sets the name in messages, after its first
/// `leading` bytes. A #line before them would prevent a precompiled header.
[[nodiscard]] std::string name_source(std::string_view source, std::string_view name,
                                      std::size_t leading = 0);

} // namespace pycuda::compile_detail
