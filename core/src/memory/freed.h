// freed.h -- the message for memory that is used after it was freed.
#pragma once

#include <pycuda/error.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace pycuda::detail {

/// "device memory at 0x7f2a40000000 (4096 bytes)"
inline std::string describe_memory(const char *what, std::uint64_t address, std::size_t bytes) {
    char text[96];
    std::snprintf(text, sizeof text, "%s at 0x%llx (%zu bytes)", what,
                  static_cast<unsigned long long>(address), bytes);
    return text;
}

[[noreturn]] inline void throw_use_of_freed(const char *function, const std::string &memory) {
    throw Error(function, CUDA_ERROR_INVALID_HANDLE, "the " + memory + " was freed before");
}

} // namespace pycuda::detail
