// word.h -- the word type for moving elements of any size.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pycuda {

/// The largest word size, 1 to 16 bytes, that divides the element size and all of `places`: the
/// bitwise or of addresses and strides.
inline std::size_t word_bytes(std::size_t item_size, std::uint64_t places) noexcept {
    const std::uint64_t bits = item_size | places | 16;
    return bits & -bits;
}

/// The type of the word in CUDA C++.
inline const char *word_name(std::size_t bytes) noexcept {
    return bytes == 16  ? "uint4"
           : bytes == 8 ? "unsigned long long"
           : bytes == 4 ? "unsigned"
           : bytes == 2 ? "unsigned short"
                        : "unsigned char";
}

} // namespace pycuda
