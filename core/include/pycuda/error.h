// error.h -- the exception of a failed call: function, result of the driver, and details.
#pragma once

#include <cuda.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace pycuda {

/// The family of an error. Each is one exception class in Python.
enum class ErrorKind { None, Generic, Memory, Launch, Runtime, Logic };

/// "CUDA_ERROR_OUT_OF_MEMORY"; of a code that is not in the table, "CUresult <number>".
std::string result_name(CUresult result);
/// The text of cuGetErrorString, such as "out of memory". Needs no driver.
std::string result_text(CUresult result);
/// The family of a result; Logic for a code that is not in the table.
ErrorKind error_kind(CUresult result) noexcept;

/// A call that failed. what() is "<function> failed: <text of the result>[ - <extra>]".
class Error : public std::runtime_error {
  public:
    /// `extra` names the object and adds details: "stream 0x55d0c8", "4096 bytes wanted".
    Error(std::string function, CUresult result, std::string extra = {});

    /// The function that failed: "cuMemAlloc".
    const std::string &function() const noexcept { return function_; }
    /// The driver's result.
    CUresult result() const noexcept { return result_; }
    /// The object and details, or empty.
    const std::string &extra() const noexcept { return extra_; }
    /// The family of the result.
    ErrorKind kind() const noexcept { return error_kind(result_); }

  private:
    std::string function_;
    CUresult result_;
    std::string extra_;
};

/// No driver library could be opened. what() lists the attempts and a remedy.
class DriverNotFound : public Error {
  public:
    /// `explanation` has the attempts and the remedy.
    DriverNotFound(std::string function, std::string explanation);
};

/// The callback of an interruptible wait asked to stop. Work on the device may still run.
class Interrupted : public Error {
  public:
    /// `function` is the call that waited.
    explicit Interrupted(std::string function);
};

/// Throws Error with these three.
[[noreturn]] void throw_error(const char *function, CUresult result, std::string extra = {});

/// Throws Error unless `result` is success.
inline void check(CUresult result, const char *function) {
    if (result != CUDA_SUCCESS) [[unlikely]]
        throw_error(function, result);
}

/// The same, where `describe()` returns the text after the dash; it is called on failure only.
template <class Describe> void check(CUresult result, const char *function, Describe &&describe) {
    if (result != CUDA_SUCCESS) [[unlikely]]
        throw_error(function, result, describe());
}

} // namespace pycuda
