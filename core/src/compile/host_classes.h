// host_classes.h -- declarations of the host's C++ classes, for libraries that mention them.
//
// A class in a header may have members for the host alone, such as `std::string name() const` or
// `void print(std::ostream &)`. nvcc reads the host's own headers. NVRTC has none, and a member
// cannot be removed as a function can (host_functions.h). The header declares these classes without
// definitions. They compile wherever no kernel calls them; a kernel that does is refused.
#pragma once

#include <string_view>

namespace pycuda::compile_detail {

inline constexpr const char *host_class_header = "pycuda-host-classes.h";
[[nodiscard]] const char *text_of_host_class_header();

/// Whether NVRTC's log misses what the header declares.
[[nodiscard]] bool needs_host_classes(std::string_view log);

/// Whether the code that was compiled calls one of the functions that are only declared.
[[nodiscard]] bool uses_host_classes(std::string_view ptx);

} // namespace pycuda::compile_detail
