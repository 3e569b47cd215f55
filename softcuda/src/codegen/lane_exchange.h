// lane_exchange.h -- exchanges between the lanes of a warp in the lane tier, where the runtime does
// them for lanes that stand at several places.
#pragma once

#include "ir/ir.h"
#include "rt/kernel_abi.h"

namespace softcuda::codegen {

/// What the runtime knows an exchange as. Throws Unsupported where it knows none.
[[nodiscard]] rt::Exchange exchange_of(const ir::Instruction &exchange);

/// True for an exchange whose result the runtime makes; false for matrix products, which lanes that
/// have met do at their place, and for all other instructions.
[[nodiscard]] bool receives_result(const ir::Instruction &instruction);

} // namespace softcuda::codegen
