// printf_format.cpp -- walks a format; each conversion is handed to the host's snprintf with one
// argument of the right type.
#include "rt/printf_format.h"

#include "rt/reserved_range.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace softcuda::rt {
namespace {

constexpr std::size_t kLongestString = 64 * 1024;
/// A width that came from a wild argument would be gigabytes of blanks.
constexpr int kWidestField = 64 * 1024;

/// The arguments that are left.
class Arguments {
  public:
    Arguments(const MemoryReader &read, std::uint64_t begin) : read_(read), next_(begin) {}

    template <class T> bool take(T &value) {
        next_ = round_up(next_, sizeof(T));
        if (!read_(&value, next_, sizeof(T)))
            return false;
        next_ += sizeof(T);
        taken_++;
        return true;
    }

    bool take_string(std::string &text) {
        std::uint64_t address = 0;
        if (!take(address))
            return false;
        if (address == 0) {
            text = "(null)";
            return true;
        }
        return read_string(read_, address, kLongestString, text);
    }

    [[nodiscard]] int taken() const noexcept { return taken_; }

  private:
    const MemoryReader &read_;
    std::uint64_t next_;
    int taken_ = 0;
};

/// One conversion: the text between '%' and its letter.
struct Conversion {
    std::string spec = "%"; ///< for snprintf, without length and letter; stars already replaced
    bool is_long = false;   ///< l, ll, j, z or t: 8 bytes
    int halves = 0;         ///< the number of letters h: 2 bytes of an int, or 1
    char letter = '\0';
};

template <class T>
void append(std::string &out, const Conversion &conversion, const char *length, T value) {
    const std::string spec = conversion.spec + length + conversion.letter;
    std::array<char, 128> text{};
    const int size = std::snprintf(text.data(), text.size(), spec.c_str(), value);
    if (size < 0)
        return;
    if (static_cast<std::size_t>(size) < text.size()) {
        out.append(text.data(), static_cast<std::size_t>(size));
        return;
    }
    std::string longer(static_cast<std::size_t>(size) + 1, '\0');
    std::snprintf(longer.data(), longer.size(), spec.c_str(), value);
    out.append(longer, 0, static_cast<std::size_t>(size));
}

/// Copies a width or precision, which may be a star, into the conversion.
bool parse_number(std::string_view format, std::size_t &at, Arguments &arguments, Conversion &to) {
    if (at < format.size() && format[at] == '*') {
        int number = 0;
        if (!arguments.take(number))
            return false;
        at++;
        // As in C, a negative width is a flag, and a negative precision is none.
        if (number < 0 && to.spec.back() == '.')
            to.spec.pop_back();
        else
            to.spec += std::to_string(std::clamp(number, -kWidestField, kWidestField));
        return true;
    }
    int number = -1;
    for (; at < format.size() && format[at] >= '0' && format[at] <= '9'; at++)
        number = std::min(std::max(number, 0) * 10 + (format[at] - '0'), kWidestField);
    if (number >= 0)
        to.spec += std::to_string(number);
    return true;
}

void parse_length(std::string_view format, std::size_t &at, Conversion &to) {
    for (; at < format.size() && std::strchr("hlLjzt", format[at]); at++) {
        to.halves += format[at] == 'h';
        to.is_long |= format[at] != 'h' && format[at] != 'L';
    }
}

/// `at` is the position after the '%'. False if an argument cannot be read. An incomplete
/// conversion has no letter.
bool parse(std::string_view format, std::size_t &at, Arguments &arguments, Conversion &to) {
    while (at < format.size() && std::strchr("-+ #0", format[at]))
        to.spec += format[at++];
    if (!parse_number(format, at, arguments, to))
        return false;
    if (at < format.size() && format[at] == '.') {
        to.spec += format[at++];
        if (!parse_number(format, at, arguments, to))
            return false;
    }
    parse_length(format, at, to);
    if (at < format.size())
        to.letter = format[at++];
    return true;
}

template <class Narrow, class Wide>
bool append_integer(std::string &out, const Conversion &conversion, Arguments &arguments) {
    if (conversion.is_long) {
        Wide value = 0;
        if (!arguments.take(value))
            return false;
        append(out, conversion, "ll", value);
        return true;
    }
    Narrow value = 0;
    if (!arguments.take(value))
        return false;
    constexpr std::array kLengths = {"", "h", "hh"};
    append(out, conversion, kLengths[std::min(conversion.halves, 2)], value);
    return true;
}

bool append_converted(std::string &out, const Conversion &conversion, Arguments &arguments) {
    switch (conversion.letter) {
    case 'd':
    case 'i':
        return append_integer<int, long long>(out, conversion, arguments);
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        return append_integer<unsigned, unsigned long long>(out, conversion, arguments);
    case 'c': {
        int value = 0;
        if (!arguments.take(value))
            return false;
        append(out, conversion, "", value);
        return true;
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
        double value = 0;
        if (!arguments.take(value))
            return false;
        append(out, conversion, "", value);
        return true;
    }
    case 'p': {
        std::uint64_t value = 0;
        if (!arguments.take(value))
            return false;
        append(out, conversion, "", reinterpret_cast<const void *>(value));
        return true;
    }
    case 's': {
        std::string value;
        if (!arguments.take_string(value))
            return false;
        append(out, conversion, "", value.c_str());
        return true;
    }
    case '%': // with flags or a width, which have no effect
        out += '%';
        return true;
    default: // not a conversion of CUDA: printed unchanged
        out += conversion.spec + conversion.letter;
        return true;
    }
}

} // namespace

bool read_string(const MemoryReader &read, std::uint64_t address, std::size_t limit,
                 std::string &text) {
    text.clear();
    std::array<char, 256> piece{};
    while (text.size() < limit) {
        // Up to the next multiple of 256, so that no page is touched before the string reaches it.
        const std::size_t bytes = piece.size() - address % piece.size();
        if (!read(piece.data(), address, bytes))
            return false;
        const auto *end = static_cast<const char *>(std::memchr(piece.data(), '\0', bytes));
        text.append(piece.data(), end ? static_cast<std::size_t>(end - piece.data()) : bytes);
        if (end)
            return true;
        address += bytes;
    }
    return true;
}

int format_printf(const MemoryReader &read, std::string_view format, std::uint64_t arguments,
                  std::string &out) {
    Arguments left(read, arguments);
    for (std::size_t at = 0; at < format.size();) {
        const std::size_t percent = std::min(format.find('%', at), format.size());
        out.append(format, at, percent - at);
        at = percent + 1;
        if (at > format.size())
            break;
        if (at < format.size() && format[at] == '%') {
            out += '%';
            at++;
            continue;
        }
        Conversion conversion;
        if (!parse(format, at, left, conversion))
            return -1;
        if (conversion.letter == '\0') {
            out.append(format, percent); // incomplete: printed unchanged
            break;
        }
        if (!append_converted(out, conversion, left))
            return -1;
    }
    return left.taken();
}

} // namespace softcuda::rt
