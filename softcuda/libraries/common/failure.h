// failure.h -- an error of a library's call: the library's own status and a message.
#pragma once

#include <stdexcept>
#include <string>

namespace softlib {

/// The status codes of a library that the common code returns.
struct Statuses {
    const char *library; ///< "cuBLAS"
    int success;
    int not_initialized;
    int invalid_value;
    int allocation_failed;
    int execution_failed;
    int internal_error;
    int not_supported;
};

/// The statuses of this library. Each library defines it.
extern const Statuses statuses;

/// The message is printed by the exported function, unless it is empty or the status says "invalid
/// value".
class Failure : public std::runtime_error {
  public:
    Failure(int status, const std::string &what) : std::runtime_error(what), status_(status) {}
    [[nodiscard]] int status() const noexcept { return status_; }

  private:
    int status_;
};

/// Throws Failure(invalid value) unless `condition` is true.
inline void require(bool condition, const char *wanted) {
    if (!condition)
        throw Failure(statuses.invalid_value, wanted);
}

} // namespace softlib
