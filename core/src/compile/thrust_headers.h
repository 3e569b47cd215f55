// thrust_headers.h -- what NVRTC needs for Thrust, which NVIDIA offers for nvcc only.
//
// Thrust's algorithms run in a kernel with the policies thrust::seq and thrust::device, one thread
// each. In addition to host_library_headers.h, Thrust's device system is C++ instead of CUDA: the
// algorithms in kernels are the same, sequential ones, and the calls of CUDA's runtime are left
// out.
#pragma once

namespace pycuda::compile_detail {

/// The name of a header to include after host_library_header, and its text.
inline constexpr const char *thrust_header = "pycuda-thrust.h";
[[nodiscard]] const char *text_of_thrust_header();

/// A header of Thrust whose class has a std::string, and a text in its place.
inline constexpr const char *thrust_bad_alloc_header = "thrust/system/detail/bad_alloc.h";
[[nodiscard]] const char *text_of_thrust_bad_alloc_header();

} // namespace pycuda::compile_detail
