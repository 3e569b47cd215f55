// wait_note.h -- reports waits of the program to softcuda's profile.
#pragma once

#include <chrono>

namespace pycuda::detail {

/// Reports that the calling thread waited outside the driver. Does nothing for a driver without
/// profiles.
void note_wait(const char *function, std::chrono::steady_clock::time_point begin,
               std::chrono::steady_clock::time_point end) noexcept;

} // namespace pycuda::detail
