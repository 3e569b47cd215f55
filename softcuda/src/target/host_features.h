// host_features.h -- what LLVM must be told about this machine's processor.
#pragma once

#include <span>
#include <string_view>

namespace softcuda::target {

/// LLVM's names of features that this processor has. LLVM finds features on ARM in a file of the
/// system, which an emulator of one program does not show; the system tells them the program, too.
[[nodiscard]] std::span<const std::string_view> more_host_features();

/// LLVM's options for code of this kind of processor that are on.
[[nodiscard]] std::span<const std::string_view> generator_options();

/// LLVM's features of a function that preserves all registers, also their upper halves, to be added
/// to those of its callers.
[[nodiscard]] std::string_view preserving_features();

} // namespace softcuda::target
