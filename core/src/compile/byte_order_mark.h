// byte_order_mark.h -- the three bytes with which some editors begin a file in UTF-8.
//
// GCC and nvcc ignore them at the begin of a file, and NVRTC reports an unrecognized token.
#pragma once

#include <string_view>

namespace pycuda::compile_detail {

[[nodiscard]] inline std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

} // namespace pycuda::compile_detail
