// exports.h -- the functions this library has, as data.
#pragma once

#include <cstddef>
#include <span>

namespace softcuda::api {

struct Export {
    const char *name; ///< as cuGetProcAddress takes it
    int version;      ///< CUDA version that introduced this form of the function
    void *function;
};

/// All rows of driver.def. Forms of one function stand in any order.
std::span<const Export> exports();

/// The form of a function that uses the per-thread default stream where it is given none, or null
/// where the function takes no stream.
void *per_thread_form(void *function);

} // namespace softcuda::api
