// user_text.h -- texts of users in generated sources, and the compiler's errors in these texts.
//
// The compiler reports most syntax errors at the word after the incomplete part. The end of a
// statement or an expression is therefore on the last line of the user's text, so that an error
// names the user's text and shows its line:
//
//     kernel.operation(1): error: expected a "]"
//       x[i = 2;
//             ^
#pragma once

#include <pycuda/compile_error.h>

#include <string>
#include <string_view>

namespace pycuda {

/// Throws std::invalid_argument if `name` cannot be the name of a function in C. `what` is
/// "elementwise kernel" or similar.
void check_kernel_name(const char *what, std::string_view name);

/// `text` as a file of its own called `name`, with lines from 1. Empty if the text is.
std::string named_text(std::string_view text, const std::string &name);
/// As named_text(), with a semicolon after the last statement.
std::string named_statements(std::string_view text, const std::string &name);
/// "return (text);", where the text has lines from 1 in a file called `name`.
std::string return_named(std::string_view text, const std::string &name);
/// A text without line breaks, for a macro.
std::string one_line(std::string text);

/// An error of the compilation of `source`. If a named text in `source` has a bracket without its
/// partner, the message says where.
CompileError explain_brackets(const CompileError &error, std::string_view source);

} // namespace pycuda
