// kernel_cache.h -- compiled kernels as bytes, for the disk cache.
#pragma once

#include "compiler/pipeline.h"

#include <optional>
#include <span>
#include <vector>

namespace softcuda::compiler {

[[nodiscard]] std::vector<char> pack(const GeneratedKernel &kernel);
/// Empty if pack() did not make the bytes.
[[nodiscard]] std::optional<GeneratedKernel> unpack(std::span<const char> bytes);

} // namespace softcuda::compiler
