// failed_check.h -- errors that recorded work finds when its graph is launched.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace pycuda {

/// A check of values failed in a launch of a graph: an index was out of bounds, say, or a matrix
/// was singular. The operation was recorded before, so it could not throw the error itself. The
/// next function that waits for the launch throws it, in the waiting thread, or else the next
/// launch of the graph. what() names the function that was recorded.
class FailedCheck : public std::runtime_error {
  public:
    enum class Kind : std::uint8_t { Index, Value, ZeroDivision, LinearAlgebra };

    /// `message` is the text of what().
    FailedCheck(Kind kind, const std::string &message) : std::runtime_error(message), kind_(kind) {}

    /// The kind of Python's exception.
    Kind kind() const noexcept { return kind_; }

  private:
    Kind kind_;
};

} // namespace pycuda
