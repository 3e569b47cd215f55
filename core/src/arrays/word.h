// word.h -- the word type for moving elements of any size.
#pragma once

#include "arrays/device_code.h"

#include <cstddef>
#include <cstdint>
#include <string>

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

/// A line that defines NO_ELEMENT, for kernels that compute or use offsets of elements. A launch of
/// a graph finds an index out of bounds after later kernels were recorded, and they skip this
/// offset.
inline std::string define_no_element() {
    return define("NO_ELEMENT", "(-0x7fffffffffffffffLL - 1)");
}

} // namespace pycuda
