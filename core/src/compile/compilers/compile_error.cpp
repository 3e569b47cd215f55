// compile_error.cpp -- the message of a failed compilation.
#include "pycuda/compile_error.h"

#include <utility>

namespace pycuda {
namespace {

std::string describe(const std::string &message, const std::vector<std::string> &command_line,
                     const std::string &standard_output, const std::string &standard_error) {
    std::string text = message;
    if (!command_line.empty()) {
        text += "\n[command:";
        for (const std::string &word : command_line)
            text += " " + word;
        text += "]";
    }
    if (!standard_output.empty())
        text += "\n[stdout:\n" + standard_output + "]";
    if (!standard_error.empty())
        text += "\n[stderr:\n" + standard_error + "]";
    return text;
}

} // namespace

CompileError::CompileError(std::string message, std::vector<std::string> command_line,
                           std::string standard_output, std::string standard_error)
    : std::runtime_error(describe(message, command_line, standard_output, standard_error)),
      message_(std::move(message)), command_line_(std::move(command_line)),
      standard_output_(std::move(standard_output)), standard_error_(std::move(standard_error)) {}

} // namespace pycuda
