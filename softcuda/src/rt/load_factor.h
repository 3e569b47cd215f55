// load_factor.h -- loads a lane's part of a matrix in shared memory to the registers of an mma
// operand.
#pragma once

#include "rt/lane_caller.h"
#include "support/matrix_factor.h"

#include <array>
#include <cstdint>

namespace softcuda::rt {

using FactorRegisters = std::array<std::uint32_t, kMostFactorRegisters>;

/// Ends the launch if the descriptor addresses memory outside the block's shared memory.
void load_factor(const LaneCaller &caller, const FactorForm &form, std::uint64_t descriptor,
                 FactorRegisters &registers);

} // namespace softcuda::rt
