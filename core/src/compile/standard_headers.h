// standard_headers.h -- stand-ins for host headers that device code includes.
//
// NVRTC has no <stdio.h>, <math.h> or <stdint.h>, and much device code includes them for printf,
// M_PI or uint32_t. Where no folder of the user's has such a header, NVRTC gets ours. So with
// <cuda.h> and <cuda_runtime.h>, which declare host functions; what of them device code can use,
// NVRTC has built in.
#pragma once

#include <string_view>

namespace pycuda::compile_detail {

/// The stand-in for a header, or null where there is none.
[[nodiscard]] const char *standard_header(std::string_view name);

/// Whether only host code has a use for the header: <iostream>, <vector>, <unistd.h>. Kernels that
/// merely share a source with such an include compile without it.
[[nodiscard]] bool is_host_header(std::string_view name);

} // namespace pycuda::compile_detail
