// kernel_cache.h -- compiled kernels as bytes, for the disk cache.
#pragma once

#include "codegen/generate.h"

#include <optional>
#include <span>
#include <vector>

namespace softcuda::compiler {

[[nodiscard]] std::vector<char> pack(const codegen::GeneratedKernel &kernel);
/// Nothing if the bytes are not what pack() makes.
[[nodiscard]] std::optional<codegen::GeneratedKernel> unpack(std::span<const char> bytes);

} // namespace softcuda::compiler
