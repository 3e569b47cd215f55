// stream_races.h -- launches, copies and fills that nothing orders, and that touch one place.
//
// Words of global memory keep who accessed them last (marked_memory.h), by a number of the launch.
// This file says what that launch was. Copies and fills are known by their ranges instead.
#pragma once

#include "check/finding.h"
#include "check/stream_order.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace softcuda::check {

class MemoryMap;

/// One command that accesses memory.
struct Accessor {
    std::string what; ///< the kernel's name, or "copy", "fill"
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    CommandOrder order;
};

/// Keeps it by its number, a launch's `run`; of many only the latest.
void remember(std::uint32_t run, std::shared_ptr<const Accessor> launch);
/// Null for one that was long ago, or not while races were looked for.
[[nodiscard]] std::shared_ptr<const Accessor> launch_of(std::uint32_t run);

/// What one copy or fill accesses.
struct Range {
    std::uint64_t begin = 0, end = 0;
    bool writes = false;
    std::shared_ptr<const Accessor> by;
};

[[nodiscard]] FoundAccess access_of(const Range &range);

/// Those of the latest copies and fills that nothing orders with a command.
class OpenRanges {
  public:
    /// The first that [begin, end) touches, where one of the two writes. `mine` says with whom.
    [[nodiscard]] const Range *conflict(const CommandOrder &mine, std::uint64_t begin,
                                        std::uint64_t end, bool writes);

  private:
    void refresh(const CommandOrder &mine);
    std::uint64_t seen_ = 0;
    std::vector<Range> ranges_;
};

/// A copy or fill begins: looks for other copies, and for launches, that access its ranges without
/// order, tells what it finds, and keeps the ranges. Throws std::bad_alloc.
void check_transfer(std::span<const Range> ranges, MemoryMap &memory);

/// Its accesses so far are forgotten: it is allocated anew, or freed.
void forget_accesses(std::uint64_t address, std::uint64_t bytes);

} // namespace softcuda::check
