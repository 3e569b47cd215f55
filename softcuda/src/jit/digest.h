// digest.h -- a short name for a long text.
#pragma once

#include <string>
#include <string_view>

namespace softcuda::jit {

/// SHA-256 in hexadecimal: 64 characters, which identify texts of any length.
[[nodiscard]] std::string digest(std::string_view text);

} // namespace softcuda::jit
