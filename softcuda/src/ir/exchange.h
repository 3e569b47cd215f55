// exchange.h -- instructions by which lanes of one warp exchange values or synchronise.
#pragma once

#include "ir/ir.h"

namespace softcuda::ir {

/// True for shuffles, votes, matches, reductions over the warp, elections, warp barriers and matrix
/// products: a lane that reaches one waits for the lanes of its member mask.
[[nodiscard]] bool is_exchange(const Instruction &instruction);

/// The member mask, an i32; null if all lanes of the warp are members (mma), and for all other
/// instructions.
[[nodiscard]] Value *members_of(const Instruction &exchange);

/// True if the members are the active lanes: the forms from before sm_70.
[[nodiscard]] bool takes_active_lanes(const Instruction &exchange);

/// True if a lane waits here for lanes that may be at other points of the program: at barriers of
/// the thread block, and at exchanges with a member mask.
[[nodiscard]] bool waits_for_lanes(const Instruction &instruction);

/// True if lanes at these two exchanges with the same member mask synchronise: the operations are
/// equal; their points in the program may differ. Matrix products synchronise only at the same
/// instruction.
[[nodiscard]] bool are_same_exchange(const Instruction &a, const Instruction &b);

} // namespace softcuda::ir
