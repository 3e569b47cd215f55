// liveness.h -- the values that are live at the start of some blocks.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <span>
#include <vector>

namespace softcuda::analysis {

/// Additional ids in the analysis, for example for masks of basic blocks.
struct ExtraLiveness {
    struct At {
        const ir::Block *block;
        std::uint32_t id;
    };
    std::uint32_t count = 0; ///< ids value_count() .. value_count() + count - 1
    std::vector<At> definitions, uses;
};

/// For each of `blocks`, the ids that are live at its start, ascending. A phi's operands are used
/// at the end of the blocks that they come from; its result is defined at the start of its block.
/// The time is proportional to the number of values and the basic blocks in which each is live.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
find_live_into(const ir::Function &function, std::span<const ir::Block *const> blocks,
               const ExtraLiveness &extra = {});

} // namespace softcuda::analysis
