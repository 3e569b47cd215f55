// split_blocks.h -- splits very long basic blocks, for instruction selection.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// Splits each basic block of more than 1000 instructions into blocks of 400. Instruction selection
/// combines the operations of one block in a time that grows faster than linearly.
void split_blocks(llvm::Module &module);

} // namespace softcuda::jit
