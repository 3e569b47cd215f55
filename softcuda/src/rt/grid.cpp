// grid.cpp -- assigns blocks to threads and runs them.
#include "rt/grid.h"

#include "rt/warp_scheduler.h"
#include "target/code_cache.h"
#include "target/float_environment.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <new>
#include <utility>

namespace softcuda::rt {
namespace {

constexpr std::uint64_t kChunkNanoseconds = 30'000;
/// A chunk may take longer so that a group of blocks is whole.
constexpr std::uint64_t kGroupNanoseconds = 150'000;

/// The blocks (or clusters) of a chunk, from the time that one takes: whole groups.
std::uint64_t chunk_of(std::uint64_t nanoseconds, std::uint64_t group) noexcept {
    const std::uint64_t wanted = std::max<std::uint64_t>(1, kChunkNanoseconds / nanoseconds);
    if (wanted >= group)
        return wanted / group * group;
    return std::clamp<std::uint64_t>(kGroupNanoseconds / nanoseconds, wanted, group);
}

/// Fewer blocks are no measure of a group.
constexpr std::uint64_t kMeasuredBlocks = 4;

std::uint64_t nanoseconds_of(clockid_t clock) noexcept {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

/// Processor time of the calling thread.
std::uint64_t thread_nanoseconds() noexcept { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

} // namespace

std::uint64_t monotonic_nanoseconds() noexcept { return nanoseconds_of(CLOCK_MONOTONIC); }

void Grid::divide(unsigned slots) {
    const std::uint64_t all = clusters(), count = std::min<std::uint64_t>(slots, all);
    std::vector<Range> ranges(count);
    for (std::uint64_t i = 0; i < count; i++) {
        // Without an overflow for grids of nearly 2^64 blocks.
        const std::uint64_t share = all / count, rest = all % count;
        ranges[i].next = i * share + std::min(i, rest);
        ranges[i].end = (i + 1) * share + std::min(i + 1, rest);
    }
    ranges_.swap(ranges);
    if (work_.block_time && !work_.cooperative)
        if (const std::uint64_t known = work_.block_time->load(std::memory_order_relaxed))
            chunk_blocks_ = chunk_of(known * together(), work_.group_blocks);
}

bool Grid::take_from(Range &range, Chunk &chunk) noexcept {
    const std::uint64_t next = range.next.load(std::memory_order_relaxed);
    if (next >= range.end)
        return false;
    // Ever smaller towards the end, so that all slots finish at about the same time.
    const std::uint64_t most = std::max<std::uint64_t>(1, (range.end - next) / 2);
    const std::uint64_t wanted = std::min(chunk_blocks_.load(std::memory_order_relaxed), most);
    const std::uint64_t first = range.next.fetch_add(wanted);
    if (first >= range.end)
        return false;
    chunk = {first, std::min(wanted, range.end - first)};
    return true;
}

bool Grid::take(unsigned slot, Chunk &chunk) noexcept {
    if (stop_.load(std::memory_order_relaxed))
        return false;
    const std::size_t count = ranges_.size();
    for (std::size_t i = 0; i < count; i++)
        if (take_from(ranges_[(slot + i) % count], chunk))
            return true;
    return false;
}

std::uint64_t Grid::together() const noexcept {
    const auto &extent = frame_->cluster;
    return work_.warp_entry ? std::uint64_t{extent[0]} * extent[1] * extent[2] : 1;
}

void Grid::note_time(const Chunk &chunk, std::uint64_t nanoseconds) noexcept {
    const std::uint64_t per_block = std::max<std::uint64_t>(1, nanoseconds / chunk.count);
    if (!work_
             .cooperative) // cooperative grids are distributed over the threads one block at a time
        chunk_blocks_.store(chunk_of(per_block, work_.group_blocks), std::memory_order_relaxed);
    if (work_.block_time)
        work_.block_time->store(std::max<std::uint64_t>(1, per_block / together()),
                                std::memory_order_relaxed);
}

Grid::Failure Grid::failure_in(const WorkerState &state, const FaultReport &report) const noexcept {
    Failure failure{.report = report, .block = state.block_index, .warp = state.warp_index};
    if (!report.address_known)
        return failure;
    const auto consider = [&](Window window, bool near, const std::byte *begin,
                              std::uint64_t bytes) {
        const auto offset =
            static_cast<std::int64_t>(report.address - reinterpret_cast<std::uint64_t>(begin));
        if (!near ||
            (failure.window != Window::None && std::abs(offset) > std::abs(failure.offset)))
            return;
        failure.window = window;
        failure.offset = offset;
        failure.window_bytes = bytes;
    };
    consider(Window::Shared, Windows::shared_range(state.shared).contains(report.address, 1),
             state.shared, work_.memory.shared);
    consider(Window::Local, Windows::local_range(state.local).contains(report.address, 1),
             state.local, work_.memory.local);
    return failure;
}

/// Calls `body`, on the slot's stack if the code needs one.
template <class Body>
Guard::Exit Grid::run_guarded(Guard &guard, WorkerSlot &slot, Body &body) noexcept {
    if (work_.memory.stack == 0)
        return guard.run(body);
    const Guard::Exit exit = guard.run([&] { slot.stack().run(body); });
    if (exit != Guard::Exit::Returned)
        slot.stack().left_by_jump();
    return exit;
}

bool Grid::run_blocks_of(WorkerSlot &slot, const Chunk &chunk, std::uint32_t group) noexcept {
    WorkerState &state = slot.state();
    state.block_index = chunk.first;
    state.warp_index = 0;
    state.group_blocks = group;
    if (work_.watch && !(state.watch = work_.watch->begin(state))) {
        fail(Outcome::OutOfMemory, {});
        return false;
    }
    auto run = [&] { work_.entry(frame_, &state, chunk.first, chunk.count); };
    Guard guard(&interrupt_);
    const Guard::Exit exit = run_guarded(guard, slot, run);
    if (work_.watch)
        work_.watch->end(static_cast<BlockWatch *>(std::exchange(state.watch, nullptr)));
    if (exit == Guard::Exit::Returned)
        return true;
    const Outcome outcome =
        exit == Guard::Exit::Interrupted ? Outcome::Interrupted : Outcome::Faulted;
    fail(outcome, failure_in(state, guard.fault()));
    return false;
}

// While the choice between single blocks and groups is open, chunks run in both ways in turn.
bool Grid::run_chunk(WorkerSlot &slot, const Chunk &chunk) noexcept {
    if (!work_.groups)
        return run_blocks_of(slot, chunk, work_.group_blocks);
    const GroupProbe::Choice choice = work_.groups->choice();
    if (choice != GroupProbe::Choice::Open || chunk.count < kMeasuredBlocks)
        return run_blocks_of(slot, chunk,
                             choice == GroupProbe::Choice::Single ? 1 : work_.group_blocks);
    const bool groups = work_.groups->tries_groups();
    const std::uint64_t begin = thread_nanoseconds();
    const bool done = run_blocks_of(slot, chunk, groups ? work_.group_blocks : 1);
    if (done)
        work_.groups->note(groups, (thread_nanoseconds() - begin) * 1000 / chunk.count);
    return done;
}

/// Hands out a grid's clusters one by one, chunk after chunk.
class Grid::Chunks final : public BlockSource {
  public:
    Chunks(Grid &grid, unsigned slot) : grid_(grid), slot_(slot) {}

    bool next(std::uint64_t &cluster) noexcept override {
        if (given_ == chunk_.count && !take())
            return false;
        cluster = chunk_.first + given_++;
        return true;
    }

  private:
    bool take() noexcept {
        const std::uint64_t now = monotonic_nanoseconds();
        if (chunk_.count > 0)
            grid_.note_time(chunk_, now - begin_);
        begin_ = now;
        given_ = 0;
        if (grid_.take(slot_, chunk_))
            return true;
        chunk_ = {};
        return false;
    }

    Grid &grid_;
    unsigned slot_;
    Chunk chunk_;
    std::uint64_t given_ = 0, begin_ = 0;
};

void Grid::run_warps(WorkerSlot &slot) noexcept {
    auto end = WarpScheduler::End::OutOfMemory;
    WarpScheduler *scheduler = nullptr;
    try {
        scheduler = &slot.scheduler();
    } catch (const std::bad_alloc &) {
        return fail(Outcome::OutOfMemory, {});
    }
    Chunks chunks(*this, slot.index());
    const WarpScheduler::Job job = {.entry = work_.warp_entry,
                                    .frame = frame_,
                                    .warps = work_.warps,
                                    .memory = work_.memory,
                                    .watch = work_.watch,
                                    .counter = work_.counter,
                                    .cooperative = work_.cooperative};
    Guard guard(&interrupt_);
    const Guard::Exit exit = guard.run([&] { end = scheduler->run(job, slot.state(), chunks); });
    if (exit == Guard::Exit::Returned && end == WarpScheduler::End::Done)
        return;
    scheduler->abandon();
    const Outcome outcome = exit == Guard::Exit::Returned      ? Outcome::OutOfMemory
                            : exit == Guard::Exit::Interrupted ? Outcome::Interrupted
                                                               : Outcome::Faulted;
    fail(outcome, failure_in(scheduler->last(), guard.fault()));
}

void Grid::run_blocks(WorkerSlot &slot) noexcept {
    const StandardFloats standard;
    target::fetch_code_again();
    if (work_.warp_entry)
        return run_warps(slot);
    if (!slot.prepare(work_.memory))
        return fail(Outcome::OutOfMemory, {});
    Chunk chunk;
    while (take(slot.index(), chunk)) {
        const std::uint64_t begin = monotonic_nanoseconds();
        if (!run_chunk(slot, chunk))
            return;
        note_time(chunk, monotonic_nanoseconds() - begin);
    }
}

void Grid::run_all(WorkerSlot &slot) noexcept {
    const StandardFloats standard;
    target::fetch_code_again();
    if (work_.warp_entry) {
        divide(1);
        return run_warps(slot);
    }
    if (!slot.prepare(work_.memory))
        return fail(Outcome::OutOfMemory, {});
    const Chunk all = {0, work_.blocks};
    const bool measure = work_.block_time && work_.block_time->load(std::memory_order_relaxed) == 0;
    const std::uint64_t begin = measure ? monotonic_nanoseconds() : 0;
    if (run_chunk(slot, all) && measure)
        note_time(all, monotonic_nanoseconds() - begin);
}

void Grid::fail(Outcome outcome, const Failure &failure) noexcept {
    std::lock_guard lock(failure_mutex_);
    stop_ = true;
    interrupt_ = true; // the other blocks' results are void
    if (outcome_ != Outcome::Done)
        return; // the first one is reported
    outcome_ = outcome;
    failure_ = failure;
}

void Grid::cancel() noexcept { fail(Outcome::Interrupted, {}); }

} // namespace softcuda::rt
