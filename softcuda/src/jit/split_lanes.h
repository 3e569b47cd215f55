// split_lanes.h -- loops over parts of a warp, in functions that are large for narrow registers.
#pragma once

#include "jit/llvm.h"

#include <cstdint>

namespace softcuda::jit {

class Target;

/// LLVM takes 40 to 200 µs for each register of an operation, so that a function with more takes
/// seconds. The largest kernels of benchmarks/softcuda have fewer or are as fast in loops.
inline constexpr std::uint64_t kMostRegisters = 40'000;

/// LLVM splits an operation on the 32 lanes of a warp into one for each register: eight for
/// 32 bits with SSE. In a function whose operations have more than `most_registers` registers,
/// instructions that compute each lane for itself become a loop, so that the size of the code does
/// not depend on the width of a register:
///
///                                          for lane = 0, 4, ... 28
///     %b = add <32 x i32> %a, %s               %a' = load <4 x i32> %a.slot[lane]
///     %c = xor <32 x i32> %b, %a    becomes    %b' = add <4 x i32> %a', %s'
///     %d = select %mask, %c, %a                ...
///                                              store <4 x i32> %d', %d.slot[lane]
///
/// (4 lanes with SSE, 8 with AVX2). Values that several loops or other instructions use are in
/// memory between them, masks as bytes. Processors whose masks are registers, and code for
/// debuggers, keep whole warps. Returns whether the function has changed.
bool split_lanes(llvm::Function &function, const Target &target,
                 std::uint64_t most_registers = kMostRegisters);

} // namespace softcuda::jit
