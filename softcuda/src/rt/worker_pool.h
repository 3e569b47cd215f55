// worker_pool.h -- the threads that run grids.
#pragma once

#include "rt/grid.h"
#include "rt/worker_slot.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::rt {

/// Work for a thread of the pool that is no grid.
class Job {
  public:
    virtual ~Job() = default;
    virtual void run() noexcept = 0;
};

/// A pool with one thread for each worker slot, created at the first use. Threads that wait
/// for a grid help. Never destroyed. Any thread may call any function.
///
/// A grid may run until a grid of another stream has run: on a GPU, both are resident. So if all
/// threads have been in their grids for a while, another thread, with a slot of its own, begins the
/// next grid or job.
class WorkerPool {
  public:
    explicit WorkerPool(unsigned slots);
    WorkerPool(const WorkerPool &) = delete;

    /// Without those of further threads.
    [[nodiscard]] unsigned slots() const noexcept { return usual_slots_; }

    /// Starts the threads if they are not running. Throws std::system_error if no thread can be
    /// started.
    void start();

    /// Queues the grid; the pool runs it with as many threads as it has blocks and free slots, then
    /// calls its finished(). Call start() before.
    void submit(std::shared_ptr<Grid> grid);

    /// Queues a job; a thread of the pool runs it before it begins another grid.
    void submit(std::shared_ptr<Job> job);

    /// Runs the whole grid on the calling thread now. Returns false and does nothing if all slots
    /// are in use.
    [[nodiscard]] bool run_here(Grid &grid);

    /// Runs blocks of a submitted grid on the calling thread, as long as blocks and a slot are
    /// available.
    void help(Grid &grid);

    /// Cancels a submitted grid, or all grids of `owner`, and makes the threads leave their blocks.
    /// Returns when the threads have left.
    void interrupt(Grid &grid);
    void interrupt_all_of(const void *owner);

    /// Nanoseconds in which grids that name `time` have run, up to now.
    [[nodiscard]] std::uint64_t total(const BusyTime &time);

  private:
    [[noreturn]] void worker_loop();
    void poll_for_submission(std::uint64_t seen) const noexcept;
    [[nodiscard]] Grid *next_grid_locked() const noexcept;
    [[nodiscard]] bool can_work_locked() const noexcept;
    WorkerSlot *take_slot(const Grid &grid) noexcept;
    void release_slot(WorkerSlot &slot) noexcept;
    void wake_for_slot_locked() noexcept;
    void run_job(std::unique_lock<std::mutex> &lock) noexcept;
    [[noreturn]] void further_loop();
    void start_further_thread();
    void wake_further_locked() noexcept;
    [[nodiscard]] Grid *waiting_grid_locked() const noexcept;
    [[nodiscard]] bool work_waits_locked() const noexcept;
    [[nodiscard]] bool is_stuck_locked(std::unique_lock<std::mutex> &lock);
    [[nodiscard]] WorkerSlot *further_slot_locked(Grid &grid);
    void run_waiting(std::unique_lock<std::mutex> &lock);
    void expel_locked(std::unique_lock<std::mutex> &lock, const Grid &grid);
    void interrupt_locked(std::unique_lock<std::mutex> &lock, Grid &grid);
    void work(std::unique_lock<std::mutex> &lock, Grid &grid, WorkerSlot &slot);

    const unsigned usual_slots_;
    std::vector<std::unique_ptr<WorkerSlot>> slots_; ///< the usual ones: never changes
    std::mutex mutex_;
    std::vector<std::unique_ptr<WorkerSlot>> further_slots_; ///< those of further threads
    std::condition_variable work_there_;
    std::vector<std::shared_ptr<Grid>>
        active_; ///< grids with unassigned or running blocks, in order of priority
    std::deque<std::shared_ptr<Job>> jobs_;
    std::atomic<std::uint64_t> submissions_{0};
    std::atomic<int> submitter_core_{-1}; ///< of the last submission; -1: none
    std::atomic<bool> started_{false};
    /// Threads that sleep and active grids. Changed with the mutex; a thread that has released a
    /// slot reads them without it.
    std::atomic<unsigned> sleeping_{0}, active_count_{0};
    std::uint64_t begun_ = 0; ///< grids and jobs

    std::condition_variable further_work_;
    unsigned further_ = 0, idle_further_ = 0; ///< threads
    bool watching_ = false; ///< one of them looks whether grids and jobs are begun
};

} // namespace softcuda::rt
