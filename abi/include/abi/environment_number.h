// environment_number.h -- reads a number from an environment variable: "4", "512M", "2G".
//
// Both libraries read their settings with this one function, so that a size is written in the same
// way in each of them.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace abi {

/// The value of an environment variable as a number with an optional suffix K, M, G or T (powers of
/// 1024), or `otherwise` if the variable is unset or empty. Throws std::invalid_argument, which
/// names the variable and its value, if the value is not such a number.
inline std::uint64_t environment_number(const char *name, std::uint64_t otherwise) {
    const char *text = std::getenv(name);
    if (text == nullptr || *text == '\0')
        return otherwise;
    errno = 0;
    char *end = nullptr;
    const std::uint64_t number = std::strtoull(text, &end, 10);
    constexpr std::string_view suffixes = "KMGTkmgt";
    const std::size_t suffix = *end == '\0' ? suffixes.npos : suffixes.find(*end);
    const unsigned shift =
        suffix == suffixes.npos ? 0 : 10 * (static_cast<unsigned>(suffix % 4) + 1);
    const char *rest = shift == 0 ? end : end + 1;
    const bool starts_with_digit = *text >= '0' && *text <= '9';
    if (!starts_with_digit || errno != 0 || *rest != '\0' || number > (UINT64_MAX >> shift))
        throw std::invalid_argument(std::string(name) + " is '" + text +
                                    "', not a number such as 4, 512M or 2G");
    return number << shift;
}

} // namespace abi
