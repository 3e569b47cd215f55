// nvrtc_attempt.h -- what nvrtc_compiler.cpp changes in an attempt to compile a source.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace pycuda::compile_detail {

/// The state that the remedies change.
struct Attempt {
    bool with_bundled_headers = false;
    bool headers_outside_wrap = false;
    bool for_device_by_default = false;
    std::set<std::string> implicit_names; // names that nvcc declares and NVRTC does not
    std::set<std::string> stand_ins;    // replacements for headers that a library's header includes
    std::set<std::string> host_headers; // headers that are replaced by empty headers
    bool with_headers_of_cuda = false;  // in place of empty headers
    std::set<std::string> missing_headers_of_cuda;
    bool without_register = false;
    bool with_int128 = false; // nvcc always knows __int128 on Linux
    bool with_nvcc_names = true;
    bool with_gcc_macros = false;       // also if only a header asks for them
    bool with_processor_macros = false; // the same
    bool without_gcc_macros = false;
    bool headers_are_libraries = false; // those of the program, too
    bool with_gnu_extensions_replaced = false;
    bool with_names_in_ascii = false;
    bool with_cpp20 = false;
    bool with_host_library = false;
    bool with_constants_folded = false;
    std::set<std::size_t> host_variables; // numbers of constants that only the host can compute

    /// Whether the compiler reads the declarations of the source as they are written.
    bool keeps_meaning() const {
        return !headers_outside_wrap && (!for_device_by_default || with_host_library) &&
               host_variables.empty() && !with_gnu_extensions_replaced;
    }
};

} // namespace pycuda::compile_detail
