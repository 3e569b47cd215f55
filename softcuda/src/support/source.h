// source.h -- a source text with a name, and locations in the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda {

/// A location in a SourceText: a byte offset. Only four bytes, because many objects have one.
struct SourceLocation {
    std::uint32_t offset = 0;
    bool operator==(const SourceLocation &) const = default;
};

/// A text and its name. Lines and columns are counted from 1, columns in bytes.
class SourceText {
  public:
    struct Position {
        unsigned line = 1;
        unsigned column = 1;
    };

    /// Copies the text up to its first NUL. Longer than 2^32-2 bytes: std::length_error.
    SourceText(std::string name, std::string_view text);

    const std::string &name() const { return name_; }
    std::string_view text() const { return text_; }

    Position position(SourceLocation location) const;
    /// One line, counted from 1, without its line break; empty if it does not exist.
    std::string_view line(unsigned number) const;

  private:
    std::string name_;
    std::string text_;
    std::vector<std::uint32_t> line_starts_;
};

} // namespace softcuda
