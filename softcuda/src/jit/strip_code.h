// strip_code.h -- removes the machine code from an object, and keeps its debug data.
#pragma once

#include <span>
#include <vector>

namespace softcuda::jit {

/// A relocatable ELF object with the same sections, of which those that are loaded have no content.
/// A damaged object is returned unchanged.
[[nodiscard]] std::vector<char> without_code(std::span<const char> object);

} // namespace softcuda::jit
