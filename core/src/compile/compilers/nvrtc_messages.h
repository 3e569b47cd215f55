// nvrtc_messages.h -- what NVRTC's log says about a source, and what to change.
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

/// The text of the first error: 'expected a ";"'.
[[nodiscard]] std::string first_message(std::string_view log);

/// Whether an error can be the consequence of a declaration that is missing.
[[nodiscard]] bool may_miss_declarations(std::string_view log);

/// As may_miss_declarations, for one of CUDA's libraries: cub::DeviceReduce, cublasCreate().
[[nodiscard]] bool may_miss_library(std::string_view log);

// NVRTC is asked first, because it needs a twentieth of nvcc's time. nvcc reads what GCC reads, so
// it compiles some of the sources that NVRTC refuses. It is not asked about mistakes that every C++
// compiler finds: the message would come a second later.

/// False if each error in NVRTC's log is one that nvcc reports too, such as an unknown name.
[[nodiscard]] bool nvcc_may_accept(std::string_view log);

/// The sentence for a message that says how to get nvcc; empty if the log does not look as if nvcc
/// could help.
[[nodiscard]] std::string advice_to_get_nvcc(std::string_view source, std::string_view log);

/// With PYCUDA_TRACE, prints that nvcc compiled `name`, and the first error of NVRTC's log.
void trace_nvcc(std::string_view name, std::string_view nvcc, std::string_view log);

} // namespace pycuda::compile_detail
