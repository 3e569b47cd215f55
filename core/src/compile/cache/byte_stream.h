// byte_stream.h -- serialisation of values to bytes, for the entries of the cache on disk.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace pycuda::compile_detail {

/// Appends numbers in their memory representation, and texts after their length.
class ByteWriter {
  public:
    template <class Number>
        requires(std::is_arithmetic_v<Number>)
    ByteWriter &put(Number value) {
        bytes_.append(reinterpret_cast<const char *>(&value), sizeof value);
        return *this;
    }
    ByteWriter &put(std::string_view text) {
        put<std::uint64_t>(text.size());
        bytes_.append(text);
        return *this;
    }
    ByteWriter &put(const char *text) { return put(std::string_view(text)); }

    [[nodiscard]] const std::string &bytes() const noexcept { return bytes_; }

  private:
    std::string bytes_;
};

/// Reads the bytes that a ByteWriter wrote. Throws std::out_of_range if the bytes end too early.
class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

    template <class Number>
        requires(std::is_arithmetic_v<Number>)
    Number number() {
        Number value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    std::string_view text() { return take(number<std::uint64_t>()); }

  private:
    std::string_view take(std::uint64_t size) {
        if (size > bytes_.size())
            throw std::out_of_range("the bytes end early");
        std::string_view taken = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return taken;
    }

    std::string_view bytes_;
};

} // namespace pycuda::compile_detail
