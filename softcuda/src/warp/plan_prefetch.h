// plan_prefetch.h -- prefetches for later iterations of a loop, or for the next thread block.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <string>
#include <vector>

namespace softcuda::warp {

struct AccessPlan;
struct KernelPlan;

/// The growth of an address: constant + the sum of all terms, bytes modulo 2^64.
struct Step {
    struct Term {
        const ir::Value *value; ///< uniform, signed; known before the loop begins
        std::int64_t times;
    };
    std::int64_t constant = 0;
    std::vector<Term> terms;
};

/// The prefetch of an access, if there is one.
struct PrefetchPlan {
    enum class Target : std::uint8_t {
        Nothing,
        Iteration, ///< the accesses of the innermost loop some iterations later
        Block,     ///< the accesses of the worker's next thread block
        Cursor,    ///< the next line after a cursor in memory
    };
    Target target = Target::Nothing;
    Step ahead;                      ///< from the access's address
    std::int64_t first = 0, end = 0; ///< bytes from a group's first lane
    bool for_store = false;
    std::uint32_t level = 3; ///< LLVM's number of the cache level: 3 is the first
};

/// Plans the prefetch of an access whose other parts are planned.
///
/// If the addresses of the lanes advance by the same large step in each iteration of the innermost
/// loop (the grid's width, some rows of a matrix), a load prefetches the cache lines of a later
/// iteration. The hardware prefetcher follows only small steps. Accesses outside of loops, in
/// thread blocks with barriers, prefetch for the next thread block.
///
/// A store through a cursor in memory, `out[next[digit]++] = key`, continues after the last store
/// through this cursor. It prefetches the next cache line. A sort has so many cursors that the
/// hardware prefetcher follows none of them.
[[nodiscard]] PrefetchPlan plan_prefetch(const KernelPlan &kernel, const ir::Instruction &access,
                                         const AccessPlan &plan);

/// `next iteration`, `next block`, `cursor`; empty if there is no prefetch.
[[nodiscard]] std::string to_text(const PrefetchPlan &plan);

} // namespace softcuda::warp
