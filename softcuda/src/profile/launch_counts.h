// launch_counts.h -- the counters of one launch.
//
// Each running thread block has private counters, so threads share nothing. When a block ends, the
// next block continues with its counters. They are added up when the launch is over.
#pragma once

#include "rt/counts.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::profile {

enum class Space : unsigned { Global, Shared, Local };
inline constexpr unsigned kSpaces = 3, kLanes = 32;

/// The counters of one access of the program in one memory space.
struct AccessCounts {
    std::uint64_t requests = 0; ///< executions by a warp
    std::uint64_t lanes = 0;    ///< the sum of the active lanes over these executions
    std::uint64_t sectors = 0;  ///< global and local memory: see lane_accesses.h
    std::uint64_t ideal_sectors = 0;
    std::uint64_t wavefronts = 0; ///< shared memory
    std::uint64_t ideal_wavefronts = 0;
    std::uint64_t same_address =
        0;                   ///< atomics: lanes that wait because another lane has the same address
    std::int64_t stride = 0; ///< of the first request with a constant stride, in bytes
    std::uint64_t regular = 0; ///< requests whose lanes all have that stride

    void operator+=(const AccessCounts &other);
};

/// The counters for one CountTable.
struct TableCounts {
    const rt::CountTable *table = nullptr;
    std::vector<rt::LineCounts> lines;
    std::vector<std::array<AccessCounts, kSpaces>> accesses; ///< by Space

    explicit TableCounts(const rt::CountTable &table);
    void operator+=(const TableCounts &other);
};

/// Adds the counters of `more` to those of the same tables.
void add_to(std::vector<TableCounts> &sum, const std::vector<TableCounts> &more);

/// The sizes of a thread block's memory; its WorkerState has the addresses.
struct WindowSizes {
    std::uint64_t shared = 0;
    std::uint64_t local = 0; ///< of all threads
    std::uint64_t local_per_thread = 0;
};

class BlockCounts final : public rt::BlockCounter {
  public:
    explicit BlockCounts(const WindowSizes &windows) : windows_(windows) {}

    void attach(const rt::WorkerState &state) noexcept { state_ = &state; }
    [[nodiscard]] rt::LineCounts *lines_of(const rt::CountTable &table) noexcept override;
    void access(const rt::CountTable &table, std::uint32_t number, std::uint32_t mask,
                const std::uint64_t *addresses) noexcept override;

    [[nodiscard]] const std::vector<TableCounts> &tables() const noexcept { return tables_; }

  private:
    struct Lanes {
        std::uint32_t in[kSpaces] = {};
    };
    [[nodiscard]] TableCounts *find(const rt::CountTable &table) noexcept;
    [[nodiscard]] Lanes split(rt::WatchSpace space, std::uint32_t mask,
                              const std::uint64_t *addresses) const;

    [[nodiscard]] const std::uint64_t *in_space(Space space, std::uint32_t lanes,
                                                const std::uint64_t *addresses,
                                                std::array<std::uint64_t, kLanes> &moved) const;

    const WindowSizes &windows_;
    const rt::WorkerState *state_ = nullptr;
    std::vector<TableCounts> tables_;
};

class LaunchCounts final : public rt::LaunchCounter {
  public:
    explicit LaunchCounts(const WindowSizes &windows) : windows_(windows) {}

    rt::BlockCounter *begin(rt::WorkerState &state) noexcept override;
    void end(rt::BlockCounter *block) noexcept override;

    /// Call it when all blocks are done. Throws std::bad_alloc.
    [[nodiscard]] std::vector<TableCounts> sum() const;

  private:
    const WindowSizes windows_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<BlockCounts>> all_;
    std::vector<BlockCounts *> free_;
};

} // namespace softcuda::profile
