// liveness.h -- which values are still needed where some blocks start.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <span>
#include <vector>

namespace softcuda::analysis {

/// Ids beyond the function's own values that take part: block masks, for example.
struct ExtraLiveness {
    struct At {
        const ir::Block *block;
        std::uint32_t id;
    };
    std::uint32_t count = 0; ///< ids value_count() .. value_count() + count - 1
    std::vector<At> definitions, uses;
};

/// For each of `blocks` the ids that are live where it starts, ascending. A phi's operands are used
/// at the end of the blocks they come from; its result is defined at the start of its own. Takes
/// time for each value and each basic block that it lives in, no more.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
find_live_into(const ir::Function &function, std::span<const ir::Block *const> blocks,
               const ExtraLiveness &extra = {});

} // namespace softcuda::analysis
