// wait_note.h -- waits of the program, told to softcuda's profile.
#pragma once

#include <chrono>

namespace pycuda::detail {

/// The calling thread has waited in place of a function of the driver. Does nothing for a driver
/// that has no profile.
void note_wait(const char *function, std::chrono::steady_clock::time_point begin,
               std::chrono::steady_clock::time_point end) noexcept;

} // namespace pycuda::detail
