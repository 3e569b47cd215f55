// grid.h -- a grid of blocks, which any number of threads run together.
//
// A worker slot is the place of one thread in the grid. Each slot has a range of blocks, so
// that neighbouring blocks run on one core, and takes chunks from this range. A slot whose range is
// used up takes chunks from the ranges of other slots:
//
//     slot 0  [0 ........ 24]           slot 0  [done]  takes from slot 1's end of the work
//     slot 1  [25 ....... 49]   later   slot 1  [25 .... 41]
//
// The size of a chunk is chosen so that it takes about 30 us; the time of a block is measured while
// the grid runs. If blocks run in clusters and warps are fibers, ranges and chunks count clusters.
#pragma once

#include "rt/busy_time.h"
#include "rt/counts.h"
#include "rt/group_probe.h"
#include "rt/guard.h"
#include "rt/kernel_abi.h"
#include "rt/watch.h"
#include "rt/worker_slot.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace softcuda::rt {

/// The measured time per block, kept from launch to launch. Nanoseconds; 0: unknown.
using BlockTime = std::atomic<std::uint64_t>;

class Grid {
  public:
    struct Work {
        KernelEntry entry = nullptr;    ///< runs a range of blocks; if it is null:
        WarpEntry warp_entry = nullptr; ///< runs one warp, as a fiber
        std::uint32_t warps = 1;        ///< of a block; for warp_entry
        bool cooperative = false;       ///< all blocks may wait for each other; for warp_entry
        std::uint64_t blocks = 0;
        std::uint32_t group_blocks = 1; ///< the most that run together; for entry
        GroupProbe *groups = nullptr;   ///< whether they do; may be null; outlives the grid
        BlockMemory memory;
        int priority = 0;                 ///< lower numbers run first
        unsigned most_slots = 0;          ///< the most slots that run it at the same time; 0: all
        const void *owner = nullptr;      ///< the owner, for WorkerPool::interrupt_all_of
        LaunchWatch *watch = nullptr;     ///< of a checked kernel; outlives the grid
        LaunchCounter *counter = nullptr; ///< of a profiled kernel; outlives the grid
        BlockTime *block_time = nullptr;  ///< may be null; outlives the grid
        BusyTime *busy_time = nullptr;    ///< of the device; may be null; outlives the grid
    };

    enum class Outcome { Done, Faulted, Interrupted, OutOfMemory };

    enum class Window { None, Shared, Local };

    /// The reason and the place of a kernel's failure.
    struct Failure {
        FaultReport report;
        std::uint64_t block = 0;
        std::uint32_t warp = 0;
        /// If the address is near one of the block's windows: the window, the offset from its
        /// begin, and the number of bytes that belong to the block.
        Window window = Window::None;
        std::int64_t offset = 0;
        std::uint64_t window_bytes = 0;
    };

    Grid() = default;
    Grid(const Grid &) = delete;
    Grid &operator=(const Grid &) = delete;
    virtual ~Grid() = default;

    /// Called by the pool when all blocks are done. Must not delete objects that the caller of the
    /// pool still uses. Not called for WorkerPool::run_here.
    virtual void finished() noexcept = 0;

    /// The work; set it before the grid is passed to a pool. The owner keeps `frame` alive.
    void set_work(const Work &work, const LaunchFrame *frame) noexcept {
        work_ = work;
        frame_ = frame;
    }

    [[nodiscard]] const Work &work() const noexcept { return work_; }
    [[nodiscard]] const LaunchFrame &frame() const noexcept { return *frame_; }

    /// After it has finished.
    [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }
    [[nodiscard]] const Failure &failure() const noexcept { return failure_; }

    /// Starts no more blocks; running blocks may be interrupted.
    void cancel() noexcept;

  private:
    friend class WorkerPool;

    struct alignas(64) Range {
        std::atomic<std::uint64_t> next{0};
        std::uint64_t end = 0;
    };
    class Chunks;
    struct Chunk {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
    };

    /// The number of blocks that are assigned together: those of a cluster, if warps are fibers.
    [[nodiscard]] std::uint64_t together() const noexcept;
    [[nodiscard]] std::uint64_t clusters() const noexcept { return work_.blocks / together(); }
    void divide(unsigned slots);
    [[nodiscard]] bool take(unsigned slot, Chunk &chunk) noexcept;
    [[nodiscard]] bool take_from(Range &range, Chunk &chunk) noexcept;
    void run_blocks(WorkerSlot &slot) noexcept;
    void run_all(WorkerSlot &slot) noexcept;
    template <class Body>
    [[nodiscard]] Guard::Exit run_guarded(Guard &guard, WorkerSlot &slot, Body &body) noexcept;
    [[nodiscard]] bool run_chunk(WorkerSlot &slot, const Chunk &chunk) noexcept;
    [[nodiscard]] bool run_blocks_of(WorkerSlot &slot, const Chunk &chunk,
                                     std::uint32_t group) noexcept;
    void run_warps(WorkerSlot &slot) noexcept;
    [[nodiscard]] Failure failure_in(const WorkerState &state,
                                     const FaultReport &report) const noexcept;
    void note_time(const Chunk &chunk, std::uint64_t nanoseconds) noexcept;
    void fail(Outcome outcome, const Failure &failure) noexcept;

    Work work_;
    const LaunchFrame *frame_ = nullptr;
    std::vector<Range> ranges_;
    std::atomic<std::uint64_t> chunk_blocks_{1};
    std::atomic<bool> interrupt_{false}; ///< running blocks should be aborted
    std::atomic<bool> stop_{false};      ///< no more blocks should be started

    std::mutex failure_mutex_;
    Outcome outcome_ = Outcome::Done;
    Failure failure_;

    // Guarded by the pool's mutex:
    [[nodiscard]] bool has_room() const noexcept {
        return !exhausted_ && (work_.most_slots == 0 || participants_ < work_.most_slots);
    }
    unsigned participants_ = 0;
    bool exhausted_ = false;
    bool active_ = false;
};

/// A monotonic clock in nanoseconds.
std::uint64_t monotonic_nanoseconds() noexcept;

} // namespace softcuda::rt
