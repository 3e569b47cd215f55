// group_probe.h -- finds by measurement whether groups of thread blocks are faster than single
// ones.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace softcuda::rt {

/// The choice for one kernel and grid. Until there is one, chunks of blocks run in both ways in
/// turn, and their times are compared. Any thread.
class GroupProbe {
  public:
    enum class Choice : std::uint8_t { Open, Single, Groups };

    [[nodiscard]] Choice choice() const noexcept { return choice_.load(std::memory_order_relaxed); }
    /// Whether the next chunk of an open choice should run in groups.
    [[nodiscard]] bool tries_groups() noexcept {
        return (turn_.fetch_add(1, std::memory_order_relaxed) & 1) != 0;
    }
    /// The processor time for each block of a chunk, in picoseconds.
    void note(bool groups, std::uint64_t picoseconds) noexcept;

  private:
    static constexpr std::size_t kSamples = 8;
    struct Times {
        std::array<std::uint64_t, kSamples> values{};
        std::size_t count = 0;
        /// The sum of the shorter half: a thread that loses its core has a few long times.
        [[nodiscard]] std::uint64_t sum_of_short() const noexcept;
    };

    std::atomic<Choice> choice_{Choice::Open};
    std::atomic<std::uint32_t> turn_{0};
    std::mutex mutex_;
    std::array<Times, 2> times_; ///< single, in groups
};

/// The probes of one kernel, for the grids of its last launches: the width of arrays, on which the
/// choice depends, usually changes together with the grid.
class GroupProbes {
  public:
    /// Valid as long as this object.
    [[nodiscard]] GroupProbe &of(const std::array<std::uint32_t, 3> &grid) noexcept;

  private:
    static constexpr std::size_t kGrids = 8;
    struct Slot {
        std::array<std::uint32_t, 3> grid{};
        GroupProbe probe;
    };
    std::mutex mutex_;
    std::size_t used_ = 0;
    std::array<Slot, kGrids> slots_; ///< all further grids use the last one
};

} // namespace softcuda::rt
