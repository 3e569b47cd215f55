// counts.h -- what a profiled kernel counts while it runs.
//
// Kernels that are compiled to be profiled (warp::TierRequest::counts) add to LineCounts themselves
// and call scu_count_access of count_abi.h before each access. Who keeps the counters is above
// this layer (profile/).
#pragma once

#include "rt/count_abi.h"

#include <cstdint>

namespace softcuda::rt {

/// One thread block that is profiled. All its warps run on one thread at a time.
class BlockCounter {
  public:
    virtual ~BlockCounter() = default;
    /// The counters of the table's lines, as many as it has. Null where there is no memory for
    /// them.
    [[nodiscard]] virtual LineCounts *lines_of(const CountTable &table) noexcept = 0;
    /// Counts an access, of a table that lines_of() was called for.
    virtual void access(const CountTable &table, std::uint32_t number, std::uint32_t mask,
                        const std::uint64_t *addresses) noexcept = 0;
};

/// One launch that is profiled. Any thread.
class LaunchCounter {
  public:
    virtual ~LaunchCounter() = default;
    /// Begins to count for a block, whose memory `state` has; null where there is no memory for
    /// that.
    virtual BlockCounter *begin(WorkerState &state) noexcept = 0;
    virtual void end(BlockCounter *block) noexcept = 0;
};

} // namespace softcuda::rt
