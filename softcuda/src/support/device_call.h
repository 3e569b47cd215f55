// device_call.h -- the functions of the CUDA runtime that device code may call, as numbers.
//
// CUDA's headers declare each as __cudaCDP2<Name>, and as cuda<Name> for older code and for PTX
// that does not come from C++; some have a second form, _ptsz, which does the same in device code.
// A call passes its number and its arguments to softcuda's runtime: one 64-bit word for each
// scalar, and for each 4 or 8 bytes (its alignment) of a struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace softcuda {

enum class DeviceCall : std::uint32_t {
#define DEVICE_CALL(Name, words) Name,
#include "support/device_calls.def"
};

inline constexpr std::size_t kMostDeviceCallWords = 12;

/// The call with this function name.
[[nodiscard]] std::optional<DeviceCall> device_call_named(std::string_view function) noexcept;
/// The number of argument words.
[[nodiscard]] std::size_t words_of(DeviceCall call) noexcept;

} // namespace softcuda
