// word.h -- elements of any size are moved as words.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pycuda {

/// The greatest size of a word, 1 to 16 bytes, that divides an element and all of `places`:
/// addresses and strides, or'ed.
inline std::size_t word_bytes(std::size_t item_size, std::uint64_t places) noexcept {
    const std::uint64_t bits = item_size | places | 16;
    return bits & -bits;
}

/// Its type in CUDA C++.
inline const char *word_name(std::size_t bytes) noexcept {
    return bytes == 16  ? "uint4"
           : bytes == 8 ? "unsigned long long"
           : bytes == 4 ? "unsigned"
           : bytes == 2 ? "unsigned short"
                        : "unsigned char";
}

} // namespace pycuda
