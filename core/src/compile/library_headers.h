// library_headers.h -- replacements for headers of CUDA's libraries that declare host functions.
//
// A whole program includes <cublas_v2.h>, <cufft.h> or <cub/cub.cuh>, whose functions are for the
// host. NVRTC refuses these. The replacements have what kernels use: the types of numbers, and the
// parts of CUB for threads, warps and blocks.
#pragma once

#include <string_view>

namespace pycuda::compile_detail {

/// The replacement for a header; null if there is none.
[[nodiscard]] const char *library_header(std::string_view name);

[[nodiscard]] bool is_library_header(std::string_view name);

/// Whether NVRTC reads the header itself: the replacement is for machines without the header.
[[nodiscard]] constexpr bool is_readable_by_nvrtc(std::string_view name) {
    return name == "curand.h"; // curand_kernel.h needs its types
}

} // namespace pycuda::compile_detail
