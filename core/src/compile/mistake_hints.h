// mistake_hints.h -- what to change, for mistakes that beginners make.
#pragma once

#include <string>
#include <string_view>

namespace pycuda::compile_detail {

/// What the mistake is and how to correct it, for a source that NVRTC refused with this log; empty
/// if the log shows none of the known mistakes. No CUDA compiler accepts such a source.
[[nodiscard]] std::string hint_for_mistake(std::string_view source, std::string_view log);

/// As hint_for_mistake, for mistakes that only look like one: nvcc may accept the source.
[[nodiscard]] std::string hint_for_refused_text(std::string_view source, std::string_view log);

/// What to use in a kernel instead of a name of the host's C++ library that the log misses, such as
/// std::cout, as "; std::cout ..." for the end of a message; empty if the log misses none.
[[nodiscard]] std::string hint_for_host_name(std::string_view log);

/// Whether the source is OpenCL C, which no CUDA compiler reads.
[[nodiscard]] bool is_opencl(std::string_view source);

} // namespace pycuda::compile_detail
