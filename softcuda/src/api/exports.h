// exports.h -- the functions this library has, as data.
#pragma once

#include <cstddef>
#include <span>

namespace softcuda::api {

struct Export {
    const char *name; ///< as cuGetProcAddress takes it
    int version;      ///< CUDA version that introduced this form of the function
    void *function;
    bool per_thread; ///< whether a null stream is the calling thread's own
};

/// All rows of driver.def. Forms of one function stand in any order.
std::span<const Export> exports();

} // namespace softcuda::api
