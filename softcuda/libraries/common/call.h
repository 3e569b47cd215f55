// call.h -- the common part of all exported functions: converts exceptions to statuses.
#pragma once

#include "failure.h"

#include <new>

/// An exported C function.
#define SOFTLIB_EXPORT extern "C" __attribute__((visibility("default")))

namespace softlib {

/// Prints "softcuda: cuBLAS: FUNCTION: TEXT" to stderr.
void print(const char *function, const char *text) noexcept;

/// Prints once for each function that it is not supported. Returns the library's status for this.
int refuse(const char *function) noexcept;

/// Returns the status of the exception that is being handled. Prints what failed, unless the
/// arguments are invalid, which the status alone says.
int status_of_exception(const char *function) noexcept;

/// Runs `body` and returns success, or the status of its exception.
template <class Body> int guarded(const char *function, Body &&body) noexcept {
    try {
        body();
        return statuses.success;
    } catch (...) {
        return status_of_exception(function);
    }
}

} // namespace softlib

/// Defines an exported function that returns a status. Exceptions of its body become statuses.
#define SOFTLIB_FUNCTION(name, parameters, ...)                                                    \
    SOFTLIB_EXPORT int name parameters {                                                           \
        return softlib::guarded(#name, [&] { __VA_ARGS__; });                                      \
    }
