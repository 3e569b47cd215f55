// worker_pool.cpp -- threads, seats and the list of grids that have blocks left.
//
// One mutex guards who sits where and which grids are active; it is taken once per thread and grid.
// Blocks are handed out by the grids themselves, without it.
#include "rt/worker_pool.h"

#include "rt/guard.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <signal.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace softcuda::rt {
namespace {

/// How long a worker that ran out of work looks for more before it sleeps: longer than a client
/// takes from one launch to the next, shorter than anyone would notice.
constexpr std::uint64_t kSpinNanoseconds = 20'000;

int own_thread_id() {
    static thread_local const int id = gettid();
    return id;
}

void pause_briefly() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

/// A new thread that the system has no memory for waits until there is some.
void prepare_when_possible() {
    for (;;) {
        try {
            return prepare_thread_for_guards();
        } catch (const std::bad_alloc &) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
}

/// While one exists, threads that are made inherit a mask that blocks all signals: the client's
/// signals are the client's threads' business.
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

WorkerPool::WorkerPool(unsigned seats) {
    for (unsigned index = 0; index < seats; index++)
        seats_.push_back(std::make_unique<Seat>(index, seats));
}

void WorkerPool::start() {
    if (started_.load(std::memory_order_acquire))
        return;
    std::lock_guard lock(mutex_);
    if (started_)
        return;
    const SignalsBlocked blocked;
    for (unsigned made = 0; made < seats(); made++) {
        try {
            std::thread([this] { worker_loop(); }).detach();
        } catch (const std::exception &) { // no thread, or no memory for one
            if (made == 0)
                throw; // fewer than wanted will do, none will not
            break;
        }
    }
    started_.store(true, std::memory_order_release);
}

void WorkerPool::submit(std::shared_ptr<Grid> grid) {
    grid->divide(seats());
    std::unique_lock lock(mutex_);
    const auto position = std::find_if(active_.begin(), active_.end(), [&](const auto &other) {
        return other->work().priority > grid->work().priority;
    });
    grid->active_ = true;
    const std::uint64_t wanted = std::min<std::uint64_t>(grid->work().blocks, sleeping_);
    active_.insert(position, std::move(grid));
    submissions_.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    if (wanted > 1)
        work_there_.notify_all();
    else if (wanted == 1)
        work_there_.notify_one();
}

Grid *WorkerPool::next_grid_locked() const noexcept {
    for (const std::shared_ptr<Grid> &grid : active_)
        if (grid->has_room())
            return grid.get();
    return nullptr;
}

Seat *WorkerPool::sit_locked(Grid &grid) noexcept {
    // The seat that this thread used last has its windows in this core's cache.
    static thread_local unsigned favourite = 0;
    for (unsigned i = 0; i < seats(); i++) {
        Seat &seat = *seats_[(favourite + i) % seats()];
        if (seat.grid)
            continue;
        favourite = seat.index();
        seat.grid = &grid;
        seat.thread_id = own_thread_id();
        return &seat;
    }
    return nullptr;
}

void WorkerPool::stand_up_locked(Seat &seat) noexcept {
    seat.grid = nullptr;
    if (sleeping_ > 0 && next_grid_locked())
        work_there_.notify_one(); // another thread may have found work, but no free seat
}

void WorkerPool::expel_locked(std::unique_lock<std::mutex> &lock, const Grid &grid) {
    for (;;) {
        bool running = false;
        for (const std::unique_ptr<Seat> &seat : seats_) {
            if (seat->grid != &grid)
                continue;
            running = true;
            interrupt_thread(seat->thread_id);
        }
        if (!running)
            return;
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        lock.lock();
    }
}

void WorkerPool::work(std::unique_lock<std::mutex> &lock, Grid &grid, Seat &seat) {
    BusyTime *const busy = grid.work().busy_time;
    grid.participants_++;
    if (busy)
        busy->begin(monotonic_nanoseconds());
    lock.unlock();
    prepare_when_possible();
    grid.run_blocks(seat);
    lock.lock();
    if (busy)
        busy->end(monotonic_nanoseconds());
    grid.exhausted_ = true;
    stand_up_locked(seat);
    if (grid.interrupt_)
        expel_locked(lock, grid); // blocks that wait for one that failed would run for ever
    if (--grid.participants_ > 0)
        return;
    const auto position = std::find_if(active_.begin(), active_.end(),
                                       [&](const auto &other) { return other.get() == &grid; });
    const std::shared_ptr<Grid> keep = std::move(*position);
    active_.erase(position);
    grid.active_ = false;
    lock.unlock();
    grid.finished();
    lock.lock();
}

bool WorkerPool::can_work_locked() const noexcept {
    const auto is_free = [](const std::unique_ptr<Seat> &seat) { return !seat->grid; };
    return next_grid_locked() && std::any_of(seats_.begin(), seats_.end(), is_free);
}

/// Looks out for a submission for a moment. The pool's mutex is not held.
void WorkerPool::look_out(std::uint64_t seen) const noexcept {
    const std::uint64_t give_up = monotonic_nanoseconds() + kSpinNanoseconds;
    while (submissions_.load(std::memory_order_relaxed) == seen &&
           monotonic_nanoseconds() < give_up)
        pause_briefly();
}

void WorkerPool::worker_loop() {
    prepare_when_possible();
    std::unique_lock lock(mutex_);
    for (;;) {
        Grid *grid = next_grid_locked();
        if (Seat *seat = grid ? sit_locked(*grid) : nullptr) {
            work(lock, *grid, *seat);
            continue;
        }
        const std::uint64_t seen = submissions_.load(std::memory_order_relaxed);
        lock.unlock();
        look_out(seen);
        lock.lock();
        if (can_work_locked())
            continue;
        sleeping_++;
        work_there_.wait(lock);
        sleeping_--;
    }
}

bool WorkerPool::run_here(Grid &grid) {
    prepare_thread_for_guards();
    std::unique_lock lock(mutex_);
    Seat *seat = sit_locked(grid);
    if (!seat)
        return false;
    lock.unlock();
    grid.run_all(*seat);
    lock.lock();
    const Grid::Work &work = grid.work();
    if (work.busy_time && work.block_time)
        work.busy_time->add(work.blocks * work.block_time->load(std::memory_order_relaxed));
    stand_up_locked(*seat);
    return true;
}

void WorkerPool::help(Grid &grid) {
    prepare_thread_for_guards();
    std::unique_lock lock(mutex_);
    if (!grid.active_ || !grid.has_room())
        return;
    if (Seat *seat = sit_locked(grid))
        work(lock, grid, *seat);
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
