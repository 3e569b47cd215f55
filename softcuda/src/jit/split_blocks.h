// split_blocks.h -- splits very long basic blocks, for instruction selection.
#pragma once

#include "jit/llvm.h"

#include <llvm/Pass.h>

namespace softcuda::jit {

/// The first instruction behind all allocations of a basic block, which must not be divided in
/// front of one. An allocation outside the entry block has no place in the frame: the size of the
/// frame would be unknown.
[[nodiscard]] llvm::BasicBlock::iterator behind_allocations(llvm::BasicBlock &block);

/// Divides each basic block of more than a thousand instructions into parts. Instruction selection
/// and the scheduler process one basic block at a time, and their time grows faster than linearly
/// with its length.
void split_blocks(llvm::Module &module);

/// The same as a pass of the code generator. LLVM's CodeGenPrepare joins parts again, so the pass
/// must run after it.
[[nodiscard]] llvm::FunctionPass *make_split_blocks_pass();

} // namespace softcuda::jit
