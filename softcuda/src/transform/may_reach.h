// may_reach.h -- what lanes that wait somewhere may run before something stops them.
#pragma once

#include "ir/ir.h"

#include <functional>
#include <vector>

namespace softcuda::transform {

using InstructionTest = std::function<bool(const ir::Instruction &)>;

/// True if a lane that starts at the beginning of one of `starts` may come to an instruction for
/// which `is_goal` holds without having passed one for which `stops` holds. An instruction for
/// which both hold is reached.
///
///     starts: a      a: barrier     b: store        is_goal: store, stops: barrier
///                    jump b                         false from a, true from b
[[nodiscard]] bool may_reach(const ir::Function &function, std::vector<const ir::Block *> starts,
                             const InstructionTest &is_goal, const InstructionTest &stops);

} // namespace softcuda::transform
