// thrust_headers.h -- what NVRTC needs for Thrust, which NVIDIA offers for nvcc only.
//
// Thrust's algorithms run in a kernel with the policies thrust::seq and thrust::device, one thread
// each. Their headers also declare functions and classes of the host, which NVRTC refuses. So:
//
//   __host__                      is an empty macro: functions of the host become functions of the
//                                 device, which nobody calls
//   the device system             is C++ instead of CUDA: the algorithms in kernels are the same,
//                                 sequential ones, and the calls of CUDA's runtime are left out
//   throw                         ends the kernel, as in nvcc's device code of Thrust
//   std::exception and its kind   are classes without a text
//   std::iterator_traits          is a template of its own, because Thrust specialises it
//
// If a source needs more of the host, NVRTC fails, and nvcc compiles the source.
#pragma once

#include <string_view>

namespace pycuda::compile_detail {

/// Whether a header of this name is one of Thrust.
[[nodiscard]] constexpr bool is_thrust_header(std::string_view name) {
    return name.starts_with("thrust/");
}

/// The name of a header to include before a source with Thrust, and its text.
inline constexpr const char *thrust_header = "pycuda-thrust.h";
[[nodiscard]] const char *text_of_thrust_header();

/// A header of Thrust whose class has a std::string, and a text in its place.
inline constexpr const char *thrust_bad_alloc_header = "thrust/system/detail/bad_alloc.h";
[[nodiscard]] const char *text_of_thrust_bad_alloc_header();

} // namespace pycuda::compile_detail
