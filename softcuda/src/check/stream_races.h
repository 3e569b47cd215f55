// stream_races.h -- races between launches, copies and fills: unordered accesses to the same
// memory.
//
// Words of global memory record their last accesses by the number of the launch (marked_memory.h).
// This file maps the number to the launch. Copies and fills are recorded as ranges.
#pragma once

#include "check/finding.h"
#include "check/stream_order.h"
#include "check/unwritten_memory.h"

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

/// When a launch began and when it allowed the next launch of its stream to begin.
struct Overlap {
    std::uint32_t begun_after = 0;           ///< so many commands of the stream were done
    std::atomic<bool> launches_next{false};  ///< a thread allowed the next launch to begin
    std::atomic<bool> launches_early{false}; ///< one that had not waited for the launch before
};

/// One command that accesses memory.
struct Accessor {
    std::string what; ///< the kernel's name, or "copy", "fill"
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    CommandOrder order;
    std::shared_ptr<Overlap> overlap; ///< of a launch
};

/// Stores the command under its number, a launch's `run`. Only the latest commands are kept.
void remember(std::uint32_t run, std::shared_ptr<const Accessor> launch);
/// The latest launch of a stream that remember() has stored; null: none.
[[nodiscard]] std::shared_ptr<const Accessor> latest_launch(std::uint32_t stream);
/// Null for an old command, or one that ran while races were not checked.
[[nodiscard]] std::shared_ptr<const Accessor> launch_of(std::uint32_t run);

/// The ranges that one copy or fill accesses.
struct Range {
    std::uint64_t begin = 0, end = 0;
    bool writes = false;
    std::shared_ptr<const Accessor> by;
};

[[nodiscard]] FoundAccess access_of(const Range &range);
/// A read of a word by a thread of the launch.
[[nodiscard]] FoundAccess access_of(const Reader &reader, const Accessor &launch);

/// The recent copies and fills that are not ordered with a command.
class OpenRanges {
  public:
    /// The first one that overlaps [begin, end), if one of the two accesses is a write. `mine` is
    /// the order of the command.
    [[nodiscard]] const Range *conflict(const CommandOrder &mine, std::uint64_t begin,
                                        std::uint64_t end, bool writes);

  private:
    void refresh(const CommandOrder &mine);
    std::uint64_t seen_ = 0;
    std::vector<Range> ranges_;
};

/// Call it when a copy or fill begins. Finds unordered copies and launches that access its ranges,
/// reports them, and stores the ranges. Throws std::bad_alloc.
void check_transfer(std::span<const Range> ranges, MemoryMap &memory);

/// Clears the recorded accesses of a range, because it is allocated or freed.
void forget_accesses(std::uint64_t address, std::uint64_t bytes);

} // namespace softcuda::check
