// warp_scheduler.cpp -- selects the next warp.
#include "rt/warp_scheduler.h"

#include "rt/grid.h"
#include "rt/guard.h"
#include "rt/resident_limit.h"
#include "support/runtime_operation.h"
#include "target/pause.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <thread>
#include <utility>

namespace softcuda::rt {
namespace {

/// Rounds in which nothing happened after which the processor is left to other threads.
constexpr unsigned kSpinRounds = 32;
/// The number of iterations after which a warp yields if it does not reach the preemption point.
constexpr unsigned kMostIterations = 16;
/// So many blocks may always be resident; those that wait for more are likely to wait for all.
constexpr std::size_t kFew = 16;
/// Yields of all warps, in multiples of patience_, that count as waiting even if warps pass
/// barriers.
constexpr std::uint64_t kMostRounds = 64;
/// Pauses after which the time is read, and the nanoseconds for each resident block after which
/// warps that only pause may be waiting.
constexpr unsigned kPausesPerLook = 16;
constexpr std::uint64_t kQuietTime = 5'000'000;
/// Nanoseconds for which blocks may wait for one that there is no memory for.
constexpr std::uint64_t kPatience = 5'000'000'000;

WarpScheduler &scheduler_of(WorkerState *worker) { return ResidentBlock::of(worker).scheduler(); }

} // namespace

WarpScheduler::End WarpScheduler::run(const Job &job, const WorkerState &worker,
                                      BlockSource &source) {
    job_ = job;
    thread_.adopt_thread();
    forget_waiting();
    most_resident_ = 0;
    starved_since_ = 0;
    preempted_at_ = 0;
    last_point_ = 0;
    for (bool more = true;;) {
        Guard::poll_interrupt();
        retire();
        if (stuck())
            move_preemption();
        const std::uint64_t wanted = more ? clusters_wanted(worker) : 0;
        std::uint64_t index = 0, begun = 0;
        while (begun < wanted) {
            if (!find_room()) { // resident blocks may end and free memory
                if (resident_.empty() || starves())
                    return End::OutOfMemory;
                break;
            }
            if (!(more = source.next(index)))
                break;
            begin_cluster(worker, index);
            begun++;
        }
        if (resident_.empty())
            return End::Done;
        if (begun == 0 && stuck())
            relax();
        if (ready_.empty()) // no warp can continue: ends the launch
            resident_.back()->cluster().report_deadlock();
        WarpFiber &next = ready_.pop();
        set_current(next);
        watch_stack(&stack_);
        resume(thread_, *next.running);
        watch_stack(nullptr);
    }
}

void WarpScheduler::abandon() noexcept {
    if (current_) {
        arrive_by_jump(*current_->running, thread_);
        last_ = current_;
    }
    watch_stack(nullptr);
    current_ = nullptr;
    finished_ = nullptr;
    ready_.clear();
    for (const auto &block : resident_)
        block->end_watch();
    std::move(resident_.begin(), resident_.end(), std::back_inserter(free_));
    resident_.clear();
}

WorkerState WarpScheduler::last() const noexcept {
    WorkerState state = last_ ? last_->block->state() : WorkerState{};
    state.warp_index = last_ ? last_->warp : 0;
    return state;
}

std::uint32_t WarpScheduler::cluster_blocks() const noexcept {
    const auto &extent = job_.frame->cluster;
    return extent[0] * extent[1] * extent[2];
}

// Clusters are counted as blocks are: x first, then y, then z.
std::uint64_t WarpScheduler::block_index(std::uint64_t cluster, std::uint32_t rank) const noexcept {
    if (cluster_blocks() == 1)
        return cluster;
    const auto &grid = job_.frame->grid;
    const auto &extent = job_.frame->cluster;
    std::uint64_t place[3];
    for (std::size_t d = 0; d < 3; d++) {
        const std::uint32_t clusters = grid[d] / extent[d];
        place[d] = cluster % clusters * extent[d] + rank % extent[d];
        cluster /= clusters;
        rank /= extent[d];
    }
    return place[0] + grid[0] * (place[1] + grid[1] * place[2]);
}

// One cluster, or, where all that are resident wait for others, a share of their number: so a chain
// of n blocks that each wait for the next one is resident after about log(n) searches for progress.
std::uint64_t WarpScheduler::clusters_wanted(const WorkerState &worker) {
    constexpr std::uint64_t kShare = 8;
    if (resident_.empty() && !job_.cooperative)
        return 1;
    if (!resident_.empty() && !stuck())
        return 0;
    if (resident_.size() >= kFew && most_resident_ == 0)
        most_resident_ = most_resident_blocks(job_.memory, job_.warps, worker.worker_count);
    const std::uint64_t most = std::max<std::uint64_t>(most_resident_, kFew);
    const std::uint64_t room = most > resident_.size() ? most - resident_.size() : 0;
    if (resident_.empty()) { // all blocks wait for each other: the thread's share of them
        const auto &grid = job_.frame->grid;
        const std::uint64_t blocks = std::uint64_t{grid[0]} * grid[1] * grid[2];
        const std::uint64_t threads = std::max(1u, worker.worker_count);
        return std::min(room, (blocks + threads - 1) / threads + cluster_blocks() - 1) /
               cluster_blocks();
    }
    return std::min(room, 1 + resident_.size() / kShare + cluster_blocks() - 1) / cluster_blocks();
}

/// Makes the last of the free blocks, as many as a cluster has, ready to begin. False where there
/// is no memory for it.
bool WarpScheduler::find_room() noexcept {
    try {
        while (free_.size() < cluster_blocks())
            free_.push_back(std::make_unique<ResidentBlock>(*this));
        resident_.reserve(resident_.size() + cluster_blocks());
    } catch (const std::bad_alloc &) {
        return false;
    }
    return std::all_of(free_.end() - cluster_blocks(), free_.end(),
                       [&](const auto &block) { return block->prepare(job_.memory, job_.warps); });
}

/// Whether there has been no room for long, and nothing has ended that would make some.
bool WarpScheduler::starves() noexcept {
    const std::uint64_t now = monotonic_nanoseconds();
    if (starved_since_ == 0)
        starved_since_ = now;
    return now - starved_since_ > kPatience;
}

void WarpScheduler::begin_cluster(const WorkerState &worker, std::uint64_t index) {
    starved_since_ = 0;
    Cluster &cluster = free_.back()->own_cluster();
    const std::uint32_t blocks = cluster_blocks();
    cluster.begin(blocks * job_.warps);
    for (std::uint32_t rank = 0; rank < blocks; rank++) {
        resident_.push_back(std::move(free_.back()));
        free_.pop_back();
        resident_.back()->begin(worker, block_index(index, rank), run_warp, ready_, cluster);
        if (job_.watch)
            resident_.back()->watch_by(*job_.watch);
        if (job_.counter)
            resident_.back()->count_by(*job_.counter);
    }
    forget_waiting();
    idle_rounds_ = 0;
    // Each warp has had its turn by then, and nothing else has happened.
    const bool soon = job_.cooperative || resident_.size() > kFew;
    patience_ = (soon ? 1 : 16) * resident_.size() * job_.warps;
    most_turns_ = (job_.cooperative ? 4 : kMostRounds) * patience_;
}

void WarpScheduler::forget_waiting() noexcept {
    yields_ = 0;
    turns_ = 0;
    quiet_since_ = 0;
    quiet_ = false;
}

void WarpScheduler::retire() {
    if (!finished_)
        return;
    const Cluster &cluster = std::exchange(finished_, nullptr)->cluster();
    if (!cluster.done())
        return; // other threads search its blocks
    starved_since_ = 0;
    const auto rest =
        std::stable_partition(resident_.begin(), resident_.end(),
                              [&](const auto &block) { return &block->cluster() != &cluster; });
    std::move(rest, resident_.end(), std::back_inserter(free_));
    resident_.erase(rest, resident_.end());
}

// All warps wait for blocks of another thread.
void WarpScheduler::relax() {
    forget_waiting();
    if (idle_rounds_++ >= kSpinRounds)
        return std::this_thread::yield();
    target::pause();
}

void WarpScheduler::run_warp(void *fiber) {
    WarpFiber &self = *static_cast<WarpFiber *>(fiber);
    WarpScheduler &scheduler = self.block->scheduler();
    scheduler.job_.entry(scheduler.job_.frame, &self.block->state(), self.block->index(),
                         self.warp);
    scheduler.end_warp(self);
}

void WarpScheduler::end_warp(WarpFiber &warp) {
    forget_waiting();
    idle_rounds_ = 0;
    warp.block->cluster().end_warp(warp, ready_);
    warp.block->end_warp(warp.warp, ready_);
    if (warp.block->done()) {
        finished_ = warp.block;
        back_to_thread(warp);
    } else {
        leave(warp);
    }
    __builtin_unreachable(); // an ended warp is never resumed
}

void WarpScheduler::set_current(WarpFiber &warp) {
    current_ = &warp;
    stack_ = warp.running->stack();
    warp.block->state().warp_index = warp.warp;
}

void WarpScheduler::switch_to(WarpFiber &next) {
    WarpFiber &self = *current_;
    set_current(next);
    resume(*self.running, *next.running);
}

void WarpScheduler::back_to_thread(WarpFiber &self) {
    last_ = &self;
    current_ = nullptr;
    resume(*self.running, thread_);
}

/// Switches to the next warp that can run, or to the thread if there is none.
void WarpScheduler::leave(WarpFiber &self) {
    if (ready_.empty() || (job_.cooperative && stuck()))
        back_to_thread(self);
    else
        switch_to(ready_.pop());
}

std::uint32_t WarpScheduler::wait(std::uint32_t number, std::uint32_t threads, std::uint32_t part,
                                  const char *place) {
    if (number == kClusterWait) {
        wait_for_cluster(place);
        return 0;
    }
    WarpFiber &self = *current_;
    if (job_.cooperative)
        turns_++;
    NamedBarrier &barrier = self.block->barrier(number, threads, place);
    BlockWatch *const watch = self.block->watch();
    if (watch)
        notify_watch(*watch, [&](BlockWatch &by) { by.arrive(self.warp, number, true); });
    if (self.block->arrive(barrier, part, place, ready_)) {
        Guard::poll_interrupt();
        yields_ = 0;
        idle_rounds_ = 0;
        self.result = barrier.result;
    } else {
        self.block->wait(barrier, self);
        leave(self);
    }
    if (watch)
        notify_watch(*watch, [&](BlockWatch &by) {
            by.leave(self.warp, number, barrier.expected == NamedBarrier::kWholeBlock);
        });
    return self.result;
}

void WarpScheduler::wait_for_cluster(const char *place) {
    WarpFiber &self = *current_;
    if (self.block->cluster().pass(self, place))
        Guard::poll_interrupt();
    else
        leave(self);
    if (BlockWatch *const watch = self.block->watch())
        notify_watch(*watch, [&](BlockWatch &by) { by.leave_cluster(self.warp); });
}

void WarpScheduler::arrive_at_cluster(const char *place, bool releases) {
    WarpFiber &self = *current_;
    if (BlockWatch *const watch = self.block->watch())
        notify_watch(*watch, [&](BlockWatch &by) { by.arrive_at_cluster(self.warp, releases); });
    self.block->cluster().arrive(self, place, ready_);
    yields_ = 0;
    idle_rounds_ = 0;
}

void WarpScheduler::arrive(std::uint32_t number, std::uint32_t threads, const char *place) {
    if (number == kClusterArrive || number == kClusterArriveRelaxed)
        return arrive_at_cluster(place, number == kClusterArrive);
    ResidentBlock &block = *current_->block;
    NamedBarrier &barrier = block.barrier(number, threads, place);
    if (BlockWatch *const watch = block.watch())
        notify_watch(*watch, [&](BlockWatch &by) { by.arrive(current_->warp, number, false); });
    if (block.arrive(barrier, 0, place, ready_))
        yields_ = 0;
    ResidentBlock::pass(barrier, current_->warp);
}

void WarpScheduler::yield() {
    if (preempted_at_ == 0 || ++iterations_ >= kMostIterations)
        yield_now();
}

void WarpScheduler::preempt(std::uint32_t point) {
    last_point_ = std::max(last_point_, point);
    if (point == preempted_at_)
        yield_now();
}

// If no warp reaches a preemption point, warps yield at the end of an iteration.
void WarpScheduler::move_preemption() {
    preempted_at_ = preempted_at_ < last_point_ ? preempted_at_ + 1 : 0;
    last_point_ = 0;
}

void WarpScheduler::pause(std::uint32_t work) {
    work_ += work;
    if (work_ < kPause)
        return;
    work_ = 0;
    if (++pauses_ % kPausesPerLook == 0)
        quiet_ = is_quiet();
    let_others_run();
}

/// Whether no block has begun and no warp has ended for long. Blocks that compute for long are not
/// distinguished from blocks that wait; the more of them are resident, the longer this takes.
bool WarpScheduler::is_quiet() noexcept {
    const std::uint64_t now = monotonic_nanoseconds();
    if (quiet_since_ == 0)
        quiet_since_ = now;
    return now - quiet_since_ > kQuietTime * resident_.size();
}

// A lane that runs by itself lets the other lanes of its warp run. The warp yields when all have.
void WarpScheduler::yield_now() {
    if (current_->running != &current_->fiber)
        return rest_lane();
    iterations_ = 0;
    yields_++;
    turns_++;
    let_others_run();
}

void WarpScheduler::let_others_run() {
    WarpFiber &self = *current_;
    if (self.running != &self.fiber)
        return rest_lane();
    if (!stuck() && ready_.empty())
        return;
    ready_.push(self);
    if (stuck())
        back_to_thread(self);
    else
        switch_to(ready_.pop());
}

void WarpScheduler::run_lane(Fiber &lane) {
    WarpFiber &self = *current_;
    self.running = &lane;
    stack_ = lane.stack();
    resume(self.fiber, lane);
}

void WarpScheduler::rest_lane() {
    WarpFiber &self = *current_;
    Fiber &lane = *self.running;
    self.running = &self.fiber;
    stack_ = self.fiber.stack();
    resume(lane, self.fiber);
}

} // namespace softcuda::rt

using softcuda::rt::WorkerState;

std::uint32_t scu_barrier(WorkerState *worker, std::uint32_t number, std::uint32_t threads,
                          std::uint32_t part, const char *place) {
    return softcuda::rt::scheduler_of(worker).wait(number, threads, part, place);
}

void scu_barrier_arrive(WorkerState *worker, std::uint32_t number, std::uint32_t threads,
                        const char *place) {
    softcuda::rt::scheduler_of(worker).arrive(number, threads, place);
}

void scu_yield(WorkerState *worker) { softcuda::rt::scheduler_of(worker).yield(); }

void scu_pause(WorkerState *worker, std::uint32_t work) {
    softcuda::rt::scheduler_of(worker).pause(work);
}

void scu_preempt(WorkerState *worker, std::uint32_t point) {
    softcuda::rt::scheduler_of(worker).preempt(point);
}
