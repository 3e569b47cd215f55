// hexadecimal.h -- numbers as text, in the form of addresses.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace softcuda {

/// "0x7f00", without leading zeros.
inline std::string hexadecimal(std::uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

} // namespace softcuda
