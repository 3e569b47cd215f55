// exports.h -- a table of the functions of this library.
#pragma once

#include <cstddef>
#include <span>

namespace softcuda::api {

struct Export {
    const char *name; ///< the name in cuGetProcAddress
    int version;      ///< the CUDA version that introduced this version of the function
    void *function;
    bool per_thread; ///< whether the null stream is the calling thread's per-thread stream
};

/// All rows of driver.def, then those of graphics.def. Versions of one function may have any order.
std::span<const Export> exports();

} // namespace softcuda::api
