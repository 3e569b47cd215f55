// worker_pool.cpp -- threads, worker slots, and the list of grids with unassigned blocks.
//
// One mutex protects the list of active grids. Each thread locks it once for each grid. The grids
// themselves assign blocks, without the mutex. A slot is taken and released without the mutex, too,
// because a client's thread that runs a tiny grid needs nothing else of the pool.
//
// A worker that finds no free slot must not miss that one is released. It announces that it sleeps,
// then looks at the slots again; a thread that releases a slot looks for sleeping workers after
// that. All these accesses have one order (memory_order_seq_cst), so at least one of the two sees
// the other:
//
//     worker    sleeping_++, then reads the slots       sleeps if none is free
//     releaser  frees the slot, then reads sleeping_    wakes a worker if there are grids
#include "rt/worker_pool.h"

#include "rt/guard.h"
#include "target/pause.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <sched.h>
#include <signal.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace softcuda::rt {
namespace {

/// The time for which a worker without work polls before it sleeps: longer than a client's usual
/// time between launches, but too short to matter.
constexpr std::uint64_t kSpinNanoseconds = 20'000;

int own_thread_id() {
    static thread_local const int id = gettid();
    return id;
}

/// If no grid and no job is begun for this time, the running grids may wait for one of them.
constexpr auto kWorkerPatience = std::chrono::milliseconds(10);
/// As many grids are resident on a GPU of capability 7.5 to 9.0 (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
constexpr unsigned kMostFurther = 128;

/// If there is no memory for a new thread's data, waits until there is.
void prepare_when_possible() {
    for (;;) {
        try {
            return prepare_worker_for_guards();
        } catch (const std::bad_alloc &) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
}

/// In the scope of this object, all signals are blocked, and new threads inherit this mask, so that
/// only the client's threads handle the client's signals.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked &) = delete;
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_;
};

} // namespace

WorkerPool::WorkerPool(unsigned slots) : usual_slots_(slots) {
    for (unsigned index = 0; index < slots; index++)
        slots_.push_back(std::make_unique<WorkerSlot>(index, slots));
}

void WorkerPool::start() {
    if (started_.load(std::memory_order_acquire))
        return;
    std::lock_guard lock(mutex_);
    if (started_)
        return;
    const SignalsBlocked blocked;
    for (unsigned made = 0; made < slots(); made++) {
        try {
            std::thread([this] { worker_loop(); }).detach();
        } catch (const std::exception &) { // no thread, or no memory for one
            if (made == 0)
                throw; // at least one thread is needed
            break;
        }
    }
    start_further_thread();
    started_.store(true, std::memory_order_release);
}

void WorkerPool::submit(std::shared_ptr<Grid> grid) {
    grid->divide(slots());
    std::unique_lock lock(mutex_);
    const auto position = std::find_if(active_.begin(), active_.end(), [&](const auto &other) {
        return other->work().priority > grid->work().priority;
    });
    grid->active_ = true;
    const std::uint64_t wanted = std::min<std::uint64_t>(grid->work().blocks, sleeping_);
    active_.insert(position, std::move(grid));
    active_count_++;
    submissions_.fetch_add(1, std::memory_order_relaxed);
    submitter_core_.store(sched_getcpu(), std::memory_order_relaxed);
    if (sleeping_ == 0)
        wake_further_locked();
    lock.unlock();
    if (wanted > 1)
        work_there_.notify_all();
    else if (wanted == 1)
        work_there_.notify_one();
}

void WorkerPool::submit(std::shared_ptr<Job> job) {
    {
        std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
        submissions_.fetch_add(1, std::memory_order_relaxed);
        if (sleeping_ == 0)
            wake_further_locked();
    }
    work_there_.notify_one();
}

void WorkerPool::run_job(std::unique_lock<std::mutex> &lock) noexcept {
    std::shared_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    begun_++;
    wake_further_locked();
    lock.unlock();
    job->run();
    job.reset();
    lock.lock();
}

Grid *WorkerPool::next_grid_locked() const noexcept {
    for (const std::shared_ptr<Grid> &grid : active_)
        if (grid->has_room())
            return grid.get();
    return nullptr;
}

/// Null if all are in use.
WorkerSlot *WorkerPool::take_slot(const Grid &grid) noexcept {
    // The windows of the slot that this thread used last are in this core's cache.
    static thread_local unsigned favourite = 0;
    for (unsigned i = 0; i < slots(); i++) {
        WorkerSlot &slot = *slots_[(favourite + i) % slots()];
        if (!slot.take(grid, own_thread_id()))
            continue;
        favourite = slot.index();
        return &slot;
    }
    return nullptr;
}

/// Another thread may have found work, but no free slot.
void WorkerPool::wake_for_slot_locked() noexcept {
    if (sleeping_ > 0 && next_grid_locked())
        work_there_.notify_one();
}

/// Call it without the pool's mutex.
void WorkerPool::release_slot(WorkerSlot &slot) noexcept {
    slot.release();
    if (active_count_ == 0 || sleeping_ == 0)
        return;
    std::lock_guard lock(mutex_);
    wake_for_slot_locked();
}

void WorkerPool::expel_locked(std::unique_lock<std::mutex> &lock, const Grid &grid) {
    for (;;) {
        bool running = false;
        for (const auto *slots : {&slots_, &further_slots_}) {
            for (const std::unique_ptr<WorkerSlot> &slot : *slots) {
                if (slot->grid() != &grid)
                    continue;
                running = true;
                interrupt_thread(slot->thread_id());
            }
        }
        if (!running)
            return;
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        lock.lock();
    }
}

void WorkerPool::work(std::unique_lock<std::mutex> &lock, Grid &grid, WorkerSlot &slot) {
    BusyTime *const busy = grid.work().busy_time;
    if (grid.participants_++ == 0)
        begun_++;
    wake_further_locked();
    if (busy)
        busy->begin(monotonic_nanoseconds());
    lock.unlock();
    prepare_when_possible();
    grid.run_blocks(slot);
    lock.lock();
    if (busy)
        busy->end(monotonic_nanoseconds());
    grid.exhausted_ = true;
    slot.release();
    wake_for_slot_locked();
    if (grid.interrupt_)
        expel_locked(lock, grid); // blocks that wait for a failed block would run for ever
    if (--grid.participants_ > 0)
        return;
    const auto position = std::find_if(active_.begin(), active_.end(),
                                       [&](const auto &other) { return other.get() == &grid; });
    const std::shared_ptr<Grid> keep = std::move(*position);
    active_.erase(position);
    active_count_--;
    grid.active_ = false;
    lock.unlock();
    grid.finished();
    lock.lock();
}

bool WorkerPool::can_work_locked() const noexcept {
    if (!jobs_.empty())
        return true;
    const auto is_free = [](const std::unique_ptr<WorkerSlot> &slot) { return !slot->grid(); };
    return next_grid_locked() && std::ranges::any_of(slots_, is_free);
}

/// Polls for a submission for a short time. Call it without the pool's mutex. The system may have
/// woken this thread on the core of the thread that submitted: that thread must not wait for the
/// end of the poll, or a launch takes as long as the poll.
void WorkerPool::poll_for_submission(std::uint64_t seen) const noexcept {
    const std::uint64_t give_up = monotonic_nanoseconds() + kSpinNanoseconds;
    while (submissions_.load(std::memory_order_relaxed) == seen &&
           monotonic_nanoseconds() < give_up) {
        if (submitter_core_.load(std::memory_order_relaxed) == sched_getcpu())
            return;
        target::pause();
    }
}

void WorkerPool::worker_loop() {
    prepare_when_possible();
    std::unique_lock lock(mutex_);
    for (;;) {
        if (!jobs_.empty()) {
            run_job(lock);
            continue;
        }
        Grid *grid = next_grid_locked();
        if (WorkerSlot *slot = grid ? take_slot(*grid) : nullptr) {
            work(lock, *grid, *slot);
            continue;
        }
        const std::uint64_t seen = submissions_.load(std::memory_order_relaxed);
        lock.unlock();
        poll_for_submission(seen);
        lock.lock();
        sleeping_++;
        if (!can_work_locked()) {
            wake_further_locked(); // clients' threads, which help, have all slots
            work_there_.wait(lock);
        }
        sleeping_--;
    }
}

void WorkerPool::start_further_thread() {
    try {
        std::thread([this] { further_loop(); }).detach();
        further_++;
    } catch (const std::exception &) { // the system has no thread: the grid waits, as on a full GPU
    }
}

/// Call it if no sleeping thread was woken for the work.
void WorkerPool::wake_further_locked() noexcept {
    if (!watching_ && idle_further_ > 0 && work_waits_locked())
        further_work_.notify_one();
}

/// A grid that no thread has begun.
Grid *WorkerPool::waiting_grid_locked() const noexcept {
    for (const std::shared_ptr<Grid> &grid : active_)
        if (grid->participants_ == 0 && grid->has_room())
            return grid.get();
    return nullptr;
}

bool WorkerPool::work_waits_locked() const noexcept {
    return !jobs_.empty() || waiting_grid_locked() != nullptr;
}

bool WorkerPool::is_stuck_locked(std::unique_lock<std::mutex> &lock) {
    const std::uint64_t begun = begun_;
    watching_ = true;
    lock.unlock();
    std::this_thread::sleep_for(kWorkerPatience);
    lock.lock();
    watching_ = false;
    return begun_ == begun && work_waits_locked();
}

/// Null if there is no memory for a new one.
WorkerSlot *WorkerPool::further_slot_locked(Grid &grid) {
    for (const std::unique_ptr<WorkerSlot> &one : further_slots_)
        if (one->take(grid, own_thread_id()))
            return one.get();
    try {
        const auto index = static_cast<unsigned>(further_slots_.size()) % usual_slots_;
        further_slots_.push_back(std::make_unique<WorkerSlot>(index, usual_slots_));
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
    WorkerSlot *const slot = further_slots_.back().get();
    return slot->take(grid, own_thread_id()) ? slot : nullptr;
}

void WorkerPool::run_waiting(std::unique_lock<std::mutex> &lock) {
    if (idle_further_ == 0 && further_ < kMostFurther) // the next one that looks
        start_further_thread();
    else
        further_work_.notify_one();
    if (!jobs_.empty())
        return run_job(lock);
    Grid *grid = waiting_grid_locked();
    if (WorkerSlot *slot = grid ? further_slot_locked(*grid) : nullptr)
        work(lock, *grid, *slot);
}

void WorkerPool::further_loop() {
    prepare_when_possible();
    std::unique_lock lock(mutex_);
    for (;;) {
        if (watching_ || !work_waits_locked()) {
            idle_further_++;
            further_work_.wait(lock);
            idle_further_--;
        } else if (is_stuck_locked(lock)) {
            run_waiting(lock);
        }
    }
}

bool WorkerPool::run_here(Grid &grid) {
    prepare_thread_for_guards();
    WorkerSlot *slot = take_slot(grid);
    if (!slot)
        return false;
    grid.run_all(*slot);
    const Grid::Work &work = grid.work();
    if (work.busy_time && work.block_time)
        work.busy_time->add(work.blocks * work.block_time->load(std::memory_order_relaxed));
    release_slot(*slot);
    return true;
}

void WorkerPool::help(Grid &grid) {
    prepare_worker_for_guards();
    std::unique_lock lock(mutex_);
    if (!grid.active_ || !grid.has_room())
        return;
    if (WorkerSlot *slot = take_slot(grid))
        work(lock, grid, *slot);
}

void WorkerPool::interrupt(Grid &grid) {
    std::unique_lock lock(mutex_);
    interrupt_locked(lock, grid);
}

void WorkerPool::interrupt_all_of(const void *owner) {
    std::unique_lock lock(mutex_);
    const std::vector<std::shared_ptr<Grid>> grids = active_;
    for (const std::shared_ptr<Grid> &grid : grids)
        if (grid->work().owner == owner)
            interrupt_locked(lock, *grid);
}

std::uint64_t WorkerPool::total(const BusyTime &time) {
    std::lock_guard lock(mutex_);
    return time.total(monotonic_nanoseconds());
}

void WorkerPool::interrupt_locked(std::unique_lock<std::mutex> &lock, Grid &grid) {
    if (!grid.active_)
        return; // it is done
    grid.cancel();
    expel_locked(lock, grid);
}

} // namespace softcuda::rt
