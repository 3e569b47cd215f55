// refused_text.h -- sources that NVRTC refuses and nvcc may compile.
//
// NVRTC is asked first, because it needs a twentieth of nvcc's time. nvcc reads what GCC reads, so
// it compiles some of the sources that NVRTC refuses. It is not asked about mistakes that every C++
// compiler finds: the message would come a second later.
#pragma once

#include <string>
#include <string_view>

namespace pycuda::compile_detail {

/// False if each error in NVRTC's log is one that nvcc reports too, such as an unknown name.
[[nodiscard]] bool nvcc_may_accept(std::string_view log);

/// The sentence for a message that says how to get nvcc; empty if the log does not look as if nvcc
/// could help.
[[nodiscard]] std::string advice_to_get_nvcc(std::string_view source, std::string_view log);

/// With PYCUDA_TRACE, prints that nvcc compiled `name`, and the first error of NVRTC's log.
void trace_nvcc(std::string_view name, std::string_view nvcc, std::string_view log);

} // namespace pycuda::compile_detail
