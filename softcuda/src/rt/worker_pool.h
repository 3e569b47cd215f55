// worker_pool.h -- the threads that run grids.
#pragma once

#include "rt/grid.h"
#include "rt/seat.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::rt {

/// As many threads as seats, made on first use, plus whoever waits for a grid and helps. Lives as
/// long as the process. Any thread may call any function.
class WorkerPool {
  public:
    explicit WorkerPool(unsigned seats);
    WorkerPool(const WorkerPool &) = delete;

    [[nodiscard]] unsigned seats() const noexcept { return static_cast<unsigned>(seats_.size()); }

    /// Makes the threads unless they are there. Throws std::system_error where not even one can be.
    void start();

    /// Runs the grid soon, with as many threads as there are blocks and seats for; then calls its
    /// finished(). start() has been called.
    void submit(std::shared_ptr<Grid> grid);

    /// Runs all of a grid on the calling thread, now. False, and nothing done, when all seats are
    /// taken.
    [[nodiscard]] bool run_here(Grid &grid);

    /// Runs blocks of a submitted grid on the calling thread as long as there are any and a seat.
    void help(Grid &grid);

    /// Cancels a submitted grid, or all of `owner`, and makes the threads leave the blocks. Returns
    /// when they have.
    void interrupt(Grid &grid);
    void interrupt_all_of(const void *owner);

    /// Nanoseconds in which grids that name `time` have run, up to now.
    [[nodiscard]] std::uint64_t total(const BusyTime &time);

  private:
    [[noreturn]] void worker_loop();
    void look_out(std::uint64_t seen) const noexcept;
    [[nodiscard]] Grid *next_grid_locked() const noexcept;
    [[nodiscard]] bool can_work_locked() const noexcept;
    Seat *sit_locked(Grid &grid) noexcept;
    void stand_up_locked(Seat &seat) noexcept;
    void expel_locked(std::unique_lock<std::mutex> &lock, const Grid &grid);
    void interrupt_locked(std::unique_lock<std::mutex> &lock, Grid &grid);
    void work(std::unique_lock<std::mutex> &lock, Grid &grid, Seat &seat);

    std::vector<std::unique_ptr<Seat>> seats_;
    std::mutex mutex_;
    std::condition_variable work_there_;
    std::vector<std::shared_ptr<Grid>>
        active_; ///< with blocks to hand out, or running; first first
    std::atomic<std::uint64_t> submissions_{0};
    std::atomic<bool> started_{false};
    unsigned sleeping_ = 0;
};

} // namespace softcuda::rt
