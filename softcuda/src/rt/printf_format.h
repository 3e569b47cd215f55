// printf_format.h -- CUDA's printf: formats a packed argument buffer as text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace softcuda::rt {

/// Reads kernel memory: copies `bytes` bytes from a generic address; false if the memory cannot be
/// read.
using MemoryReader =
    std::function<bool(void *destination, std::uint64_t source, std::size_t bytes)>;

/// Reads a string of at most `limit` bytes, without its NUL. False if it cannot be read.
bool read_string(const MemoryReader &read, std::uint64_t address, std::size_t limit,
                 std::string &text);

/// Appends the formatted text to `out`. The arguments are stored in order from the address
/// `arguments` on, each aligned to its size: 4 bytes for int and char, 8 for long, long long,
/// double and pointers. Returns the number of arguments, or -1 for arguments that cannot be read.
/// An incomplete conversion is printed unchanged.
int format_printf(const MemoryReader &read, std::string_view format, std::uint64_t arguments,
                  std::string &out);

} // namespace softcuda::rt
