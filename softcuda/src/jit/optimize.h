// optimize.h -- from LLVM IR that is already vectorised to an object file.
#pragma once

#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace softcuda::jit {

class Target;

/// Runs the scalar passes. Loop and SLP vectorisers stay off: the code is vectors already.
void optimize(llvm::Module &module, const Target &target);

/// Machine code for an optimised module, as a relocatable ELF object.
std::vector<char> emit_object(llvm::Module &module, const Target &target);

/// Both.
std::vector<char> compile(llvm::Module &module, const Target &target);

} // namespace softcuda::jit
