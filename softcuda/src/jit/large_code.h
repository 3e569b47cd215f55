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

/// Whether a function of the module has more LLVM instructions than that.
inline bool has_more_instructions(const llvm::Module &module, unsigned most) {
    return llvm::any_of(module, [&](const llvm::Function &function) {
        return function.getInstructionCount() > most;
    });
}

/// Before the passes. With more, only those of linear time run.
inline constexpr unsigned kMostForAllPasses = 150'000;

/// After the passes. With more, liveness and the optimising register allocator take minutes,
/// because their time grows faster than linearly.
inline constexpr unsigned kMostOptimised = 100'000;

} // namespace softcuda::jit
