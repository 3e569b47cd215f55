// trace.h -- the log of driver calls, which PYCUDA_TRACE=1 enables.
//
// If tracing is enabled, the loader inserts a thunk between the table and the library's function.
// Without tracing there is no cost:
//
//     pycuda: cuMemcpyHtoD(0x7f2a40000000, 0x55d0c8f2, 4096) = CUDA_SUCCESS  3.1 us
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <type_traits>

namespace pycuda {

/// True if PYCUDA_TRACE is set to a value other than 0.
bool trace_wanted();

namespace trace {

void append_pointer(std::string &text, const void *pointer);
void append_address(std::string &text, std::uint64_t address);
void append_string(std::string &text, const char *string);
void write_line(const char *function, const std::string &arguments, CUresult result,
                std::chrono::nanoseconds took);

/// While it lives, lines of this thread with the result `code` say what this result means:
///
///     pycuda: cuEventQuery(0x55d0c8f2) = CUDA_ERROR_NOT_READY, expected: work is pending  0.1 us
class [[nodiscard]] ExpectedResult {
  public:
    ExpectedResult(CUresult code, const char *meaning) noexcept;
    ExpectedResult &operator=(ExpectedResult &&) = delete; // no copies either
    ~ExpectedResult();

  private:
    friend void write_line(const char *, const std::string &, CUresult, std::chrono::nanoseconds);
    CUresult code_;
    const char *meaning_;
    const ExpectedResult *outer_;
};

template <class T> void append_argument(std::string &text, const T &argument) {
    if (!text.empty())
        text += ", ";
    if constexpr (std::is_same_v<T, const char *>)
        append_string(text, argument);
    else if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>)
        append_pointer(text, reinterpret_cast<const void *>(argument));
    else if constexpr (std::is_pointer_v<T>)
        append_pointer(text, argument);
    else if constexpr (std::is_same_v<T, CUdeviceptr>)
        append_address(text, argument);
    else if constexpr (std::is_enum_v<T>)
        text += std::to_string(static_cast<long long>(argument));
    else if constexpr (std::is_arithmetic_v<T>)
        text += std::to_string(argument);
    else
        text += "{...}"; // a struct passed by value
}

template <class Pointer, class... Args>
CUresult call(const char *name, Pointer function, Args... args) {
    std::string arguments;
    (append_argument(arguments, args), ...);
    auto start = std::chrono::steady_clock::now();
    CUresult result = function(args...);
    write_line(name, arguments, result, std::chrono::steady_clock::now() - start);
    return result;
}

} // namespace trace
} // namespace pycuda
