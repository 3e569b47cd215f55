// call.cpp -- messages of failed calls.
#include "call.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace softlib {

void print(const char *function, const char *text) noexcept {
    std::fprintf(stderr, "softcuda: %s: %s: %s\n", statuses.library, function, text);
}

int refuse(const char *function) noexcept {
    try {
        static std::mutex mutex;
        static std::set<std::string> printed;
        std::lock_guard lock(mutex);
        if (printed.insert(function).second)
            print(function, "not supported");
    } catch (const std::exception &) { // no memory for the name
        print(function, "not supported");
    }
    return statuses.not_supported;
}

int status_of_exception(const char *function) noexcept {
    try {
        throw;
    } catch (const Failure &failure) {
        if (failure.status() != statuses.invalid_value && *failure.what() != '\0')
            print(function, failure.what());
        return failure.status();
    } catch (const std::bad_alloc &) {
        return statuses.allocation_failed;
    } catch (const std::exception &error) {
        print(function, error.what());
        return statuses.internal_error;
    }
}

} // namespace softlib
