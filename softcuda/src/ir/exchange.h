// exchange.h -- instructions by which lanes of one warp tell each other something, or meet.
#pragma once

#include "ir/ir.h"

namespace softcuda::ir {

/// True for shuffles, votes, matches, reductions over the warp, elections, warp barriers and matrix
/// products: a lane that comes to one waits for the lanes that its member mask names.
[[nodiscard]] bool is_exchange(const Instruction &instruction);

/// The member mask, an i32; null where all lanes of the warp are members (mma) and for all other
/// instructions.
[[nodiscard]] Value *members_of(const Instruction &exchange);

/// True if the members are the lanes that happen to be active: the forms from before sm_70.
[[nodiscard]] bool takes_active_lanes(const Instruction &exchange);

/// True if a lane waits here for lanes that may stand elsewhere: at barriers of the thread block,
/// and at exchanges that name their members.
[[nodiscard]] bool waits_for_lanes(const Instruction &instruction);

/// True if lanes at these two exchanges, with one member mask, meet: both say the same, wherever in
/// the program they are. Lanes at matrix products meet at one of them only.
[[nodiscard]] bool are_same_exchange(const Instruction &a, const Instruction &b);

} // namespace softcuda::ir
