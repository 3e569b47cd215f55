// standard_headers.h -- replacements for host headers that device code includes.
//
// NVRTC has no <stdio.h>, <math.h> or <stdint.h>, and much device code includes them for printf,
// M_PI or uint32_t. If no folder of the user contains such a header, NVRTC gets a replacement. The
// same applies to <cuda.h> and <cuda_runtime.h>, which declare host functions: NVRTC has built-in
// declarations of the parts that device code can use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pycuda::compile_detail {

/// The replacement for a header, of a library of CUDA too; null if there is none.
[[nodiscard]] const char *standard_header(std::string_view name);

/// The names of all headers that have a replacement, and of those that only host code uses.
[[nodiscard]] std::vector<std::string> names_of_host_headers();

/// Whether only host code uses the header: <iostream>, <vector>, <unistd.h>. Kernels in a source
/// with such an include compile without the header.
[[nodiscard]] bool is_host_header(std::string_view name);

/// For a kernel that uses a header which is_host_header(), such as <optional> or <concepts>: the
/// text that includes CUDA's header of this name; null if CUDA has none.
[[nodiscard]] const char *header_of_cuda(std::string_view name);

/// Whether a header is one of CUDA's libraries with functions of the host: <cublas_v2.h>,
/// <cufft.h>, <cub/cub.cuh>. The replacements have what kernels use: the types of numbers, and the
/// parts of CUB for threads, warps and blocks.
[[nodiscard]] bool is_library_header(std::string_view name);

/// Whether NVRTC reads the header itself: the replacement is for machines without the header.
[[nodiscard]] constexpr bool is_readable_by_nvrtc(std::string_view name) {
    return name == "curand.h"; // curand_kernel.h needs its types
}

} // namespace pycuda::compile_detail
