// failure.h -- a failure of a call, with its message for the error log.
#pragma once

#include "nvjitlink_api.h"

#include <string>
#include <utility>

namespace softlink {

class Failure {
  public:
    /// The message is one or more lines without the final newline, or empty.
    explicit Failure(nvJitLinkResult result, std::string message = {})
        : result_(result), message_(std::move(message)) {}
    [[nodiscard]] nvJitLinkResult result() const noexcept { return result_; }
    [[nodiscard]] const std::string &message() const noexcept { return message_; }

  private:
    nvJitLinkResult result_;
    std::string message_;
};

/// Throws Failure(result) unless `condition` is true.
inline void require(bool condition, nvJitLinkResult result) {
    if (!condition)
        throw Failure(result);
}

} // namespace softlink
