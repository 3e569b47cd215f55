// large_code.h -- functions for which LLVM passes of quadratic time are left out.
#pragma once

#include "jit/llvm.h"

#include <llvm/Analysis/LoopInfo.h>

namespace softcuda::jit {

/// The loop over the warps contains all basic blocks, so a value that a pass moves in front of it
/// is live in all of them. Liveness and register allocation take
/// the product of the number of such values and of the number of basic blocks.
inline constexpr std::size_t kManyBasicBlocks = 1000;

inline bool has_many_basic_blocks(const llvm::Function &function) {
    return function.size() > kManyBasicBlocks;
}

inline bool has_many_basic_blocks(const llvm::Loop &loop) {
    return loop.getNumBlocks() > kManyBasicBlocks;
}

/// LLVM instructions of a function, before the passes, from which on only passes of linear time
/// run.
inline constexpr unsigned kHuge = 150'000;

inline bool is_huge(const llvm::Module &module) {
    return llvm::any_of(module, [](const llvm::Function &function) {
        return function.getInstructionCount() > kHuge;
    });
}

} // namespace softcuda::jit
