// printf_format.h -- CUDA's printf: a format and a packed argument buffer become text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace softcuda::rt {

/// Reads kernel memory: copies `bytes` bytes from a generic address, false where that is not
/// possible.
using MemoryReader =
    std::function<bool(void *destination, std::uint64_t source, std::size_t bytes)>;

/// Reads a string of at most `limit` bytes, without its NUL. False where it is not readable.
bool read_string(const MemoryReader &read, std::uint64_t address, std::size_t limit,
                 std::string &text);

/// Appends the formatted text to `out`. The arguments lie one after the other from address
/// `arguments` on, each at a multiple of its size: 4 bytes for int and char, 8 for long, long long,
/// double and pointers. Returns the number of arguments, or -1 for a format that is not complete or
/// arguments that cannot be read.
int format_printf(const MemoryReader &read, std::string_view format, std::uint64_t arguments,
                  std::string &out);

} // namespace softcuda::rt
