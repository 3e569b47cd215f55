// text_cursor.h -- reads one line of the IR's text form, word by word.
#pragma once

#include "ir/types.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::ir {

/// Thrown inside the reader of the text form, caught by parse_ir().
struct TextError {
    std::string message;
};

/// A place in a line. Each method first skips blanks; those that must find something throw a
/// TextError that names the line.
class TextCursor {
  public:
    TextCursor(std::string_view line, unsigned number) : rest_(line), number_(number) {}

    [[noreturn]] void fail(const std::string &what) const;

    bool at_end();
    void end(); ///< fails unless at the end
    bool peek(char c);
    bool peek_word(std::string_view word);
    bool peek_constant(); ///< at `i32 5` and its like
    bool accept(char c);
    void expect(char c);

    /// A run of letters, digits, `_`, `$` and `.`; fails if there is none.
    std::string_view word();
    std::int64_t number();
    /// The number after this word.
    std::uint64_t unsigned_after(std::string_view word);
    /// `+ 16`, `- 16`, or nothing: 0.
    std::int64_t offset();
    std::string_view quoted();
    std::vector<std::byte> hex_bytes();
    std::uint64_t constant_bits(Type type);

    /// A cursor for a piece of this line.
    TextCursor within(std::string_view piece) const { return {piece, number_}; }
    /// The piece up to the next dot.
    std::string_view until_dot();

    template <typename Enum> Enum keyword(std::string_view wanted) {
        return parse<Enum>(word(), wanted);
    }
    template <typename Enum> Enum dotted(std::string_view wanted) {
        expect('.');
        return parse<Enum>(until_dot(), wanted);
    }
    /// For words that contain dots: tid.x.
    template <typename Enum> Enum rest_after_dot(std::string_view wanted) {
        expect('.');
        return parse<Enum>(word(), wanted);
    }

  private:
    template <typename Enum> Enum parse(std::string_view text, std::string_view wanted) {
        Enum value{};
        if (!from_text(text, value))
            fail("expected " + std::string(wanted) + ", found " + std::string(text));
        return value;
    }
    void skip_blanks();

    std::string_view rest_;
    unsigned number_;
};

} // namespace softcuda::ir
