// may_reach.cpp -- a search in the control flow graph that stops at some instructions.
#include "transform/may_reach.h"

namespace softcuda::transform {

namespace {

enum class Found { Nothing, Goal, Stop };

Found look_at(const ir::Block &block, const InstructionTest &is_goal,
              const InstructionTest &stops) {
    for (const ir::Instruction *i : block.instructions) {
        if (is_goal(*i))
            return Found::Goal;
        if (stops(*i))
            return Found::Stop;
    }
    return Found::Nothing;
}

} // namespace

bool may_reach(const ir::Function &function, std::vector<const ir::Block *> starts,
               const InstructionTest &is_goal, const InstructionTest &stops) {
    std::vector<bool> seen(function.blocks.size(), false);
    while (!starts.empty()) {
        const ir::Block *block = starts.back();
        starts.pop_back();
        if (seen[block->id])
            continue;
        seen[block->id] = true;
        const Found found = look_at(*block, is_goal, stops);
        if (found == Found::Goal)
            return true;
        if (found == Found::Nothing)
            starts.insert(starts.end(), block->successors().begin(), block->successors().end());
    }
    return false;
}

} // namespace softcuda::transform
