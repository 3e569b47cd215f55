// frame_bytes.h -- the stack size of the functions of an object file.
#pragma once

#include <cstdint>
#include <span>

namespace softcuda::jit {

/// The sum of the stack frames of all functions of an object of emit_object(): an upper bound for a
/// call of any of them, without the runtime's functions, unless a function is recursive. 0 for
/// other objects. Bytes.
[[nodiscard]] std::uint64_t frame_bytes(std::span<const char> object);

} // namespace softcuda::jit
