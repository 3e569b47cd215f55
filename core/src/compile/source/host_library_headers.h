// host_library_headers.h -- what NVRTC needs for libraries whose headers also have host code.
//
// The templates of Thrust, Eigen and Random123 run in kernels. Their headers also declare functions
// and classes of the host, which NVRTC refuses. So:
//
//   __host__                      is an empty macro: functions of the host become functions of the
//                                 device, which nobody calls
//   throw                         ends the kernel, as in nvcc's device code of Thrust
//   std::exception and its kind   are classes without a text
//   std::string, std::ostream     are classes whose functions end the kernel
//   static variables              that need a constructor end the kernel, in functions, and are
//                                 only declared elsewhere
//   std::iterator_traits,         are templates of their own, because the libraries specialise them
//   std::numeric_limits
//
// If a source needs more of the host, NVRTC fails, and nvcc compiles the source.
#pragma once

#include "compile/source/host_functions.h"

#include <set>
#include <string>
#include <string_view>

namespace pycuda::compile_detail {

/// The library that has a header of this name, such as "Eigen"; empty if none of these has.
[[nodiscard]] std::string_view host_library_of(std::string_view header);

/// The name of a header to include before a source with such a library, and its text.
inline constexpr const char *host_library_header = "pycuda-host-library.h";
[[nodiscard]] const char *text_of_host_library_header();

/// Variables of a library's headers that only the host can have: they need a constructor.
struct HostVariables {
    ReportedLines in_functions; ///< `static Sizes sizes;`
    ReportedLines at_scope;     ///< `static const Index last = first + 1;`

    /// Adds the lines that NVRTC's log names. False if the log names no new one.
    bool add(std::string_view log);
};

/// The text of a header in which functions end the kernel where they have such a variable, and such
/// a variable at namespace scope is only declared. `files` are the names of the header in messages.
[[nodiscard]] std::string replace_host_variables(std::string_view text,
                                                 const std::set<std::string> &files,
                                                 const HostVariables &variables);

// Thrust's algorithms run in a kernel with the policies thrust::seq and thrust::device, one thread
// each. In addition to host_library_headers.h, Thrust's device system is C++ instead of CUDA: the
// algorithms in kernels are the same, sequential ones, and the calls of CUDA's runtime are left
// out.

/// The name of a header to include after host_library_header, and its text.
inline constexpr const char *thrust_header = "pycuda-thrust.h";
[[nodiscard]] const char *text_of_thrust_header();

/// A header of Thrust whose class has a std::string, and a text in its place.
inline constexpr const char *thrust_bad_alloc_header = "thrust/system/detail/bad_alloc.h";
[[nodiscard]] const char *text_of_thrust_bad_alloc_header();

} // namespace pycuda::compile_detail
