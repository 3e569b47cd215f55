// may_reach.h -- the instructions that waiting lanes may execute before they must stop.
#pragma once

#include "ir/ir.h"

#include <functional>
#include <vector>

namespace softcuda::transform {

using InstructionTest = std::function<bool(const ir::Instruction &)>;

/// True if a lane that starts at the beginning of one of `starts` may reach an instruction with
/// `is_goal` before an instruction with `stops`. An instruction with both counts as reached.
///
///     starts: a      a: barrier     b: store        is_goal: store, stops: barrier
///                    jump b                         false from a, true from b
[[nodiscard]] bool may_reach(const ir::Function &function, std::vector<const ir::Block *> starts,
                             const InstructionTest &is_goal, const InstructionTest &stops);

} // namespace softcuda::transform
