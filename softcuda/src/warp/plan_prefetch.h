// plan_prefetch.h -- accesses that a loop will make some iterations from now, or the next block.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <string>
#include <vector>

namespace softcuda::warp {

struct AccessPlan;
struct KernelPlan;

/// How much an address grows: constant + the sum of all terms, bytes modulo 2^64.
struct Step {
    struct Term {
        const ir::Value *value; ///< uniform, read as a signed number; known before the loop begins
        std::int64_t times;
    };
    std::int64_t constant = 0;
    std::vector<Term> terms;
};

/// What to ask the cache for at an access, if anything.
struct PrefetchPlan {
    enum class What : std::uint8_t {
        Nothing,
        Iteration, ///< what the innermost loop accesses some iterations from now
        Block,     ///< what the worker's next thread block accesses
        Cursor,    ///< the line after that of a cursor in memory
    };
    What what = What::Nothing;
    Step ahead;                      ///< from the access's place
    std::int64_t first = 0, end = 0; ///< bytes from a group's first lane
    bool for_store = false;
    std::uint32_t level = 3; ///< LLVM's word for the cache level: 3 is the first
};

/// Plans the prefetch of an access whose other parts are planned.
///
/// Where the lanes' places move by the same long step in each iteration of the innermost loop --
/// the grid's width, some rows of a matrix -- a load's cache lines of an iteration to come: the
/// processor's own prefetching follows short steps only. For accesses of blocks with barriers that
/// are in no loop, those of the next block.
///
/// Where a store of one element goes on from where the last one of the same kind ended -- its place
/// is a cursor in memory, one of many, `out[next[digit]++] = key` -- the line after it: a sort
/// writes so many rows in turn that the processor follows none of them.
[[nodiscard]] PrefetchPlan plan_prefetch(const KernelPlan &kernel, const ir::Instruction &access,
                                         const AccessPlan &plan);

/// `next iteration`, `next block`, `cursor`; empty for nothing.
[[nodiscard]] std::string to_text(const PrefetchPlan &plan);

} // namespace softcuda::warp
