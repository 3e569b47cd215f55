// frame_bytes.h -- how much stack the functions of an object file need.
#pragma once

#include <cstdint>
#include <span>

namespace softcuda::jit {

/// The sum of the stack frames of all functions of an object that emit_object() made: what a call
/// of any of them needs at most, functions of the runtime aside, unless one calls itself. 0 for
/// other objects. Bytes.
[[nodiscard]] std::uint64_t frame_bytes(std::span<const char> object);

} // namespace softcuda::jit
