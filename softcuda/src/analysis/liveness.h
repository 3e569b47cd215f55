// liveness.h -- which values are still needed where a block starts.
#pragma once

#include "ir/ir.h"

#include <cstdint>
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

/// Live-in sets by Block::id, each indexed by Value::id. A phi's operands are used at the end of
/// the blocks they come from; its result is defined at the start of its own.
[[nodiscard]] std::vector<std::vector<bool>> find_live_in(const ir::Function &function,
                                                          const ExtraLiveness &extra = {});

} // namespace softcuda::analysis
