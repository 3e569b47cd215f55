// grid.h -- a number of blocks to be run by whatever threads come along.
//
// Each seat starts on a range of blocks of its own, so that neighbouring blocks run on one core,
// and takes chunks from it. A seat whose range is used up takes chunks from the others' ranges:
//
//     seat 0  [0 ........ 24]           seat 0  [done]  takes from seat 1's end of the work
//     seat 1  [25 ....... 49]   later   seat 1  [25 .... 41]
//
// A chunk is as many blocks as take about 30 us, which is measured while they run. Where blocks run
// in clusters and warps are fibers, ranges and chunks count clusters.
#pragma once

#include "rt/busy_time.h"
#include "rt/counts.h"
#include "rt/guard.h"
#include "rt/kernel_abi.h"
#include "rt/seat.h"
#include "rt/watch.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace softcuda::rt {

/// What a grid's time per block was, kept from launch to launch. Nanoseconds; 0: not known.
using BlockTime = std::atomic<std::uint64_t>;

class Grid {
  public:
    struct Work {
        KernelEntry entry = nullptr;    ///< of a range of blocks; or, where it is null:
        WarpEntry warp_entry = nullptr; ///< of one warp, run as a fiber
        std::uint32_t warps = 1;        ///< of a block; for warp_entry
        bool cooperative = false;       ///< all blocks may wait for each other; for warp_entry
        std::uint64_t blocks = 0;
        BlockMemory memory;
        int priority = 0;                 ///< lower numbers go first
        unsigned most_seats = 0;          ///< that may run it at the same time; 0: all
        const void *owner = nullptr;      ///< whose it is: see WorkerPool::interrupt_all_of
        LaunchWatch *watch = nullptr;     ///< of a checked kernel; outlives the grid
        LaunchCounter *counter = nullptr; ///< of a profiled kernel; outlives the grid
        BlockTime *block_time = nullptr;  ///< may be null; outlives the grid
        BusyTime *busy_time = nullptr;    ///< of the device; may be null; outlives the grid
    };

    enum class Outcome { Done, Faulted, Interrupted, OutOfMemory };

    enum class Window { None, Shared, Local };

    /// Why and where a kernel failed.
    struct Failure {
        FaultReport report;
        std::uint64_t block = 0;
        std::uint32_t warp = 0;
        /// Where the address is near one of the block's windows: which, how far from its beginning,
        /// and how many bytes of it are the block's.
        Window window = Window::None;
        std::int64_t offset = 0;
        std::uint64_t window_bytes = 0;
    };

    Grid() = default;
    Grid(const Grid &) = delete;
    Grid &operator=(const Grid &) = delete;
    virtual ~Grid() = default;

    /// Called by the pool when no block runs any more and none will; may delete nothing that the
    /// caller of the pool still holds. Not called for WorkerPool::run_here.
    virtual void finished() noexcept = 0;

    /// What to run; set before the grid is given to a pool. `frame` stays the owner's.
    void set_work(const Work &work, const LaunchFrame *frame) noexcept {
        work_ = work;
        frame_ = frame;
    }

    [[nodiscard]] const Work &work() const noexcept { return work_; }
    [[nodiscard]] const LaunchFrame &frame() const noexcept { return *frame_; }

    /// After it has finished.
    [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }
    [[nodiscard]] const Failure &failure() const noexcept { return failure_; }

    /// Hands out no more blocks; those that run may be interrupted.
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

    /// How many blocks are handed out as one: those of a cluster, where warps are fibers.
    [[nodiscard]] std::uint64_t together() const noexcept;
    [[nodiscard]] std::uint64_t clusters() const noexcept { return work_.blocks / together(); }
    void divide(unsigned seats);
    [[nodiscard]] bool take(unsigned seat, Chunk &chunk) noexcept;
    [[nodiscard]] bool take_from(Range &range, Chunk &chunk) noexcept;
    void run_blocks(Seat &seat) noexcept;
    void run_all(Seat &seat) noexcept;
    template <class Body>
    [[nodiscard]] Guard::Exit run_guarded(Guard &guard, Seat &seat, Body &body) noexcept;
    [[nodiscard]] bool run_chunk(Seat &seat, const Chunk &chunk) noexcept;
    void run_warps(Seat &seat) noexcept;
    [[nodiscard]] Failure failure_in(const WorkerState &state,
                                     const FaultReport &report) const noexcept;
    void note_time(const Chunk &chunk, std::uint64_t nanoseconds) noexcept;
    void fail(Outcome outcome, const Failure &failure) noexcept;

    Work work_;
    const LaunchFrame *frame_ = nullptr;
    std::vector<Range> ranges_;
    std::atomic<std::uint64_t> chunk_blocks_{1};
    std::atomic<bool> interrupt_{false}; ///< running blocks should be left
    std::atomic<bool> stop_{false};      ///< no more blocks should be begun

    std::mutex failure_mutex_;
    Outcome outcome_ = Outcome::Done;
    Failure failure_;

    // Guarded by the pool's mutex:
    [[nodiscard]] bool has_room() const noexcept {
        return !exhausted_ && (work_.most_seats == 0 || participants_ < work_.most_seats);
    }
    unsigned participants_ = 0;
    bool exhausted_ = false;
    bool active_ = false;
};

/// Nanoseconds since some fixed moment, monotonic.
std::uint64_t monotonic_nanoseconds() noexcept;

} // namespace softcuda::rt
