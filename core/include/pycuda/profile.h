// profile.h -- the profile: counters of kernels, and a timeline of streams.
#pragma once

#include <cstdint>
#include <string>

namespace pycuda {

/// Modes of the profile are bits; several can be on.
namespace profile_mode {
inline constexpr unsigned timeline = 1; ///< when kernels, copies and waits began and ended
inline constexpr unsigned counters = 2; ///< instructions and accesses of kernels, by source line
inline constexpr unsigned all = timeline | counters;
} // namespace profile_mode

/// The modes that are on; 0 for a driver that has no profile. Any thread may call.
[[nodiscard]] unsigned profile_modes();

/// Sets the modes for work that is launched from now on. NVIDIA's driver supports the timeline
/// only, with CUPTI. Throws Error (not supported) if the driver lacks a mode, and
/// std::runtime_error if CUPTI reports an error.
void set_profile_modes(unsigned modes);

/// Adds work of the calling thread to the timeline, such as a function of NumPy on the memory of
/// arrays. The event is called "numpy.matmul: matmul(float32[300, 300], float32[300, 300])", with
/// the operation of the thread (NotedOperation) behind the name. begin, end: nanoseconds of the
/// system's monotonic clock. Does nothing if the timeline is off or if the device is a GPU.
void note_host_work(const char *name, std::uint64_t begin, std::uint64_t end) noexcept;

/// The record so far, as JSON text. Throws as set_profile_modes().
[[nodiscard]] std::string profile_report();

/// Empties the record. Throws as set_profile_modes().
void forget_profile();

} // namespace pycuda
