// long_lived.h -- keeps values that are live in many basic blocks in memory.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// In a function with many basic blocks, stores each value that is used far from its definition,
/// and loads it in each basic block that uses it:
///
///     a:    %v = add ...                  a:    %v = add ...
///                                               store %v, %slot
///     z:    call @f(%v)                   z:    %w = load %slot
///                                               call @f(%w)
///
/// A cascade of a thousand cases has a thousand masks that are live until their case is reached.
/// Liveness and register allocation take the product of the number of such values and of the number
/// of basic blocks in between; the allocator would spill nearly all of them. The values with the
/// most uses stay in registers.
void store_long_lived(llvm::Module &module);

} // namespace softcuda::jit
