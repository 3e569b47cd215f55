// nvrtc_messages.h -- what NVRTC's log says about a source.
#pragma once

#include <string>
#include <string_view>

namespace pycuda::compile_detail {

[[nodiscard]] bool says(const std::string &log, std::string_view phrase);

/// The header that was not found; empty if the log does not report a missing header. NVRTC's
/// message is 'could not open source file "x.h"', or 'cannot open' with a list of folders.
[[nodiscard]] std::string missing_header(const std::string &log);

/// How to get a CUDA header that is not on this machine.
[[nodiscard]] std::string advice_for(const std::string &header);

/// Why the log says that only nvcc compiles a header of CUDA; empty if it does not say this.
[[nodiscard]] std::string header_for_nvcc(const std::string &log);

/// The undeclared type of a kernel's parameter: the compiler takes such a kernel's declaration for
/// that of a variable. Empty if the log has no such error.
[[nodiscard]] std::string unknown_parameter_type(const std::string &log);

[[nodiscard]] bool is_host_code(const std::string &log);

} // namespace pycuda::compile_detail
