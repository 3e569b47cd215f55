// check.h -- the macros of the C++ tests in this folder.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace test {

/// The number of failures; main returns status().
inline int failures = 0;

inline int status() {
    std::printf(failures ? "%d FAILED\n" : "all passed\n", failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

} // namespace test

/// Reports a false condition and continues.
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ++test::failures;                                                                      \
            std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                    \
        }                                                                                          \
    } while (false)
