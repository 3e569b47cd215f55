// file_check.h -- compares a program's output with the CHECK lines of a test file.
#pragma once

#include <string>
#include <string_view>

namespace softcuda::test {

/// Reads the lines of `test` that begin with `comment` (";" or "//") and one of
///
///     CHECK: text         a line of the output, after the last match, contains text
///     CHECK-NEXT: text    the next line contains text
///     CHECK-NOT: text     no line between the matches before and after contains text
///
/// and compares them with `output`. Several blanks count as one; `{{...}}` in a text is a regular
/// expression. Returns the errors, or an empty string. A file without CHECK lines is an error.
[[nodiscard]] std::string file_check(std::string_view test, std::string_view comment,
                                     std::string_view output);

/// The rest of the first line that begins with `comment` and `keyword:`; empty if there is none.
[[nodiscard]] std::string directive(std::string_view test, std::string_view comment,
                                    std::string_view keyword);

} // namespace softcuda::test
