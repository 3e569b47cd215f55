// counts.h -- the counters of a profiled kernel while it runs.
//
// Kernels that are compiled with counters (warp::TierRequest::counts) increment LineCounts
// themselves, and call scu_count_access of count_abi.h before each access. The owner of the
// counters is in the layer above (profile/).
#pragma once

#include "rt/count_abi.h"

#include <cstdint>

namespace softcuda::rt {

/// One thread block that is profiled. All its warps run on one thread at a time.
class BlockCounter {
  public:
    virtual ~BlockCounter() = default;
    /// The counters of the table's lines. Null if memory runs out.
    [[nodiscard]] virtual LineCounts *lines_of(const CountTable &table) noexcept = 0;
    /// Counts an access of a table for which lines_of() was called.
    virtual void access(const CountTable &table, std::uint32_t number, std::uint32_t mask,
                        const std::uint64_t *addresses) noexcept = 0;
};

/// One launch that is profiled. Any thread.
class LaunchCounter {
  public:
    virtual ~LaunchCounter() = default;
    /// Begins to count for the block of `state`; null if memory runs out.
    virtual BlockCounter *begin(WorkerState &state) noexcept = 0;
    virtual void end(BlockCounter *block) noexcept = 0;
};

} // namespace softcuda::rt
