// splat.cpp -- vectors whose lanes are all equal.
#include "jit/splat.h"

#include "jit/llvm.h"

#include <llvm/Analysis/VectorUtils.h>

namespace softcuda::jit {

llvm::Value *splat_value(const llvm::Value *vector) { return llvm::getSplatValue(vector); }

} // namespace softcuda::jit
