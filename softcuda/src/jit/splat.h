// splat.h -- vectors whose lanes are all equal.
#pragma once

namespace llvm {
class Value;
}

namespace softcuda::jit {

/// The value of each lane of a vector that was made from one value; otherwise null. Behind a header
/// of its own: LLVM's (VectorUtils.h) takes the compiler longer than all others of llvm.h.
[[nodiscard]] llvm::Value *splat_value(const llvm::Value *vector);

} // namespace softcuda::jit
