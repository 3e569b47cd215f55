// byte_masks.h -- masks are combined as bytes, in large functions.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

class Target;

/// In a function with many basic blocks, for processors without registers of bits for masks: `and`,
/// `or` and `xor` of masks with many lanes compute with bytes of 0 and -1, the form that masks have
/// in memory and between basic blocks (jit/widen_masks.h):
///
///     %c = icmp eq <32 x i32> ...             %c = icmp eq <32 x i32> ...
///     %m = and <32 x i1> %a, %c               %s = sext %c
///     %s = sext %m                            %s = and <32 x i8> %w, %s
///
/// LLVM gets to the same instructions from masks of bits, but asks for the known bits of each lane
/// of each operand on the way, which takes twice the time.
void combine_masks_in_bytes(llvm::Module &module, const Target &target);

} // namespace softcuda::jit
