// compile_error.h -- a failed compilation, with the messages of the compiler.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda {

/// Thrown by compile(). what() is the message, then the command, stdout and stderr
/// in brackets, each only when there is one.
class CompileError : public std::runtime_error {
  public:
    /// The arguments after the message are those of the accessors below; empty if there is none.
    explicit CompileError(std::string message, std::vector<std::string> command_line = {},
                          std::string standard_output = {}, std::string standard_error = {});

    /// One line: the compilation that failed, and the reason if it is known.
    [[nodiscard]] const std::string &message() const noexcept { return message_; }
    /// The compiler and its arguments; empty when no compiler was started.
    [[nodiscard]] const std::vector<std::string> &command_line() const noexcept {
        return command_line_;
    }
    /// What the compiler wrote to its standard output.
    [[nodiscard]] const std::string &standard_output() const noexcept { return standard_output_; }
    /// The compiler's messages with the user's own line numbers.
    [[nodiscard]] const std::string &standard_error() const noexcept { return standard_error_; }

    /// The folder with the compiler's files if CompileRequest::keep was set.
    std::string kept_in;

  private:
    std::string message_;
    std::vector<std::string> command_line_;
    std::string standard_output_;
    std::string standard_error_;
};

/// What to change if ptxas, or the driver, refuses PTX with this log; empty if it shows no known
/// mistake.
[[nodiscard]] std::string hint_for_refused_ptx(std::string_view log);

} // namespace pycuda
