// kernel_cache.h -- the entries of the disk cache: kernels, and the objects that LLVM makes of
// them.
//
// An entry of a kernel names the object's entry. The key of an object is made of what LLVM compiles
// and how: equal kernels of different modules share an object, and another build of this library
// that generates the same LLVM IR finds it.
#pragma once

#include "compiler/pipeline.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::compiler {

/// A kernel without its object, but with the object's key.
[[nodiscard]] std::vector<char> pack(const GeneratedKernel &kernel);
/// The kernel with an empty object. Empty if pack() did not make the bytes.
[[nodiscard]] std::optional<GeneratedKernel> unpack(std::span<const char> bytes);

/// The key of the object that these passes and the code generator make of LLVM IR.
[[nodiscard]] std::string object_key(std::string_view bitcode,
                                     std::span<const jit::LlvmPass> passes,
                                     const jit::Target &target);

} // namespace softcuda::compiler
