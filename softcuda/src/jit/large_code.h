// large_code.h -- functions for which LLVM passes of quadratic time are left out.
#pragma once

#include "jit/llvm.h"

#include <llvm/ADT/DenseMap.h>
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

/// With more basic blocks, the passes that ask for each value what all branches say about it are
/// left out: their time grows with the square of the number of checked accesses.
inline constexpr std::size_t kMostForConditions = 3000;

inline bool has_more_basic_blocks(const llvm::Module &module, std::size_t most) {
    return llvm::any_of(module,
                        [&](const llvm::Function &function) { return function.size() > most; });
}

/// In a function with many basic blocks, a value is kept in memory if this many of them, in their
/// order, are between its definition and a use.
inline constexpr unsigned kLongLifetime = 200;

/// The basic blocks of a function, numbered in their order.
class BlockOrder {
  public:
    explicit BlockOrder(const llvm::Function &function) {
        for (const llvm::BasicBlock &block : function)
            numbers_.try_emplace(&block, numbers_.size());
    }
    [[nodiscard]] unsigned number(const llvm::BasicBlock *block) const {
        return numbers_.lookup(block);
    }
    [[nodiscard]] unsigned distance(const llvm::BasicBlock *a, const llvm::BasicBlock *b) const {
        const unsigned x = number(a), y = number(b);
        return x < y ? y - x : x - y;
    }

  private:
    llvm::DenseMap<const llvm::BasicBlock *, unsigned> numbers_;
};

/// Before the passes. With more, only those of linear time run.
inline constexpr unsigned kMostForAllPasses = 150'000;

/// After the passes. With more, liveness and the optimising register allocator take minutes,
/// because their time grows faster than linearly.
inline constexpr unsigned kMostOptimised = 100'000;

} // namespace softcuda::jit
