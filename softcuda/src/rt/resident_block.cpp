// resident_block.cpp -- arrivals at barriers, and the report of a deadlock.
#include "rt/resident_block.h"

#include "rt/guard.h"
#include "rt/lane_calls.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <new>

namespace softcuda::rt {
namespace {

// A stack has the usual size of a thread's stack, or the size that the launch requests; its pages
// use no memory until they are accessed. Below each stack is an inaccessible guard page.
constexpr std::uint64_t kLeastSpacing = std::uint64_t{1} << 20;
constexpr std::uint64_t kStackGuard = std::uint64_t{64} << 10;
constexpr std::uint32_t kMostWarps = 32;

// Stacks that began at the same place of a page would compete for the same few lines of the cache.
constexpr std::uint64_t kColours = 8, kColour = 576, kMostColour = kColours * kColour;
std::uint64_t colour_of(std::uint32_t warp) { return warp % kColours * kColour; }

/// Ends the launch. Nothing that owns memory may be alive in the caller: this jumps.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char *format, ...) {
    FaultReport report;
    report.kind = Fault::BarrierMismatch;
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(report.detail, sizeof report.detail, format, arguments);
    va_end(arguments);
    Guard::fail(report);
}

} // namespace

bool ResidentBlock::prepare(const BlockMemory &needs, std::uint32_t warps) noexcept {
    if (!windows_.provide(needs.shared, needs.local))
        return false;
    const std::uint64_t spacing =
        std::max(round_up(needs.stack + kMostColour + kStackGuard, kStackGuard), kLeastSpacing);
    try {
        if (!stacks_ || spacing > stack_spacing_) {
            open_stacks_ = 0;
            stacks_.reset();
            stacks_ = std::make_unique<ReservedRange>(spacing * kMostWarps);
            stack_spacing_ = spacing;
        }
        while (warps_.size() < warps)
            warps_.push_back(std::make_unique<WarpFiber>());
    } catch (const std::bad_alloc &) {
        return false;
    }
    for (; open_stacks_ < warps; open_stacks_++) {
        if (!stacks_->open(stack_of(open_stacks_), stack_spacing_ - kStackGuard))
            return false;
    }
    shared_bytes_ = needs.shared;
    state_.shared = windows_.shared();
    state_.local = windows_.local();
    warp_count_ = warps;
    return true;
}

std::byte *ResidentBlock::stack_of(std::uint32_t warp) const noexcept {
    return stacks_->begin() + warp * stack_spacing_ + kStackGuard;
}

void ResidentBlock::begin(const WorkerState &worker, std::uint64_t index, Fiber::Body body,
                          WarpQueue &ready, Cluster &cluster) {
    cluster_ = &cluster;
    rank_ = static_cast<std::uint32_t>(cluster.blocks().size());
    cluster.add(*this);
    state_.worker_id = worker.worker_id;
    state_.worker_count = worker.worker_count;
    index_ = index;
    state_.block_index = index;
    state_.warp_index = 0;
    state_.resident = this;
    state_.known.forget();
    barriers_.fill({});
    live_ = warp_count_;
    waiting_ = 0;
    for (std::uint32_t warp = 0; warp < warp_count_; warp++) {
        WarpFiber &fiber = *warps_[warp];
        fiber.block = this;
        fiber.warp = warp;
        fiber.arrived_at_cluster = false;
        fiber.running = &fiber.fiber;
        if (fiber.calls)
            fiber.calls->forget();
        fiber.fiber.start(stack_of(warp), stack_spacing_ - kStackGuard - colour_of(warp), body,
                          &fiber);
        ready.push(fiber);
    }
}

LaneCalls &ResidentBlock::calls_of(WarpFiber &warp) {
    const std::uint64_t bytes = stack_spacing_ - kStackGuard;
    if (!warp.calls || warp.calls->stack_bytes() != bytes)
        warp.calls = LaneCalls::make(bytes, kStackGuard);
    if (!warp.calls)
        fail_without_stacks(warp);
    return *warp.calls;
}

void ResidentBlock::fail_without_stacks(const WarpFiber &warp) {
    fail("out of memory for the stacks of the lanes of warp %u", warp.warp);
}

void ResidentBlock::watch_by(LaunchWatch &watcher) {
    watcher_ = &watcher;
    state_.watch = watcher.begin(state_);
    if (!state_.watch)
        fail_for_memory_of_checks();
}

void ResidentBlock::count_by(LaunchCounter &counter) {
    counter_ = &counter;
    state_.counter = counter.begin(state_);
    if (!state_.counter)
        fail_without_counters();
}

void ResidentBlock::fail_without_counters() { fail("out of memory for the counters of a block"); }

void ResidentBlock::end() {
    for (ResidentBlock *other : cluster_->blocks()) // the memory is no longer theirs to access
        other->state_.known.forget();
    end_watch();
}

void ResidentBlock::end_watch() noexcept {
    if (state_.watch)
        watcher_->end(watch());
    state_.watch = nullptr;
    if (state_.counter)
        counter_->end(static_cast<BlockCounter *>(state_.counter));
    state_.counter = nullptr;
}

NamedBarrier &ResidentBlock::configure(std::uint32_t number, std::uint32_t threads,
                                       const char *place) {
    if (number >= kBarriers)
        fail("barrier %u at %s does not exist, expected 0 to 15", number, place);
    if (threads % kWarpSize != 0)
        fail("barrier %u at %s is for %u threads, expected a multiple of 32", number, place,
             threads);
    NamedBarrier &barrier = barriers_[number];
    const std::uint32_t expected = threads == 0 || threads == warp_count_ * kWarpSize
                                       ? NamedBarrier::kWholeBlock
                                       : threads / kWarpSize;
    if (barrier.arrived > 0 && barrier.expected != expected)
        fail("barrier %u at %s is for a different number of threads than at %s", number, place,
             barrier.place);
    barrier.expected = expected;
    return barrier;
}

void ResidentBlock::complete(NamedBarrier &barrier, WarpQueue &ready) {
    if (state_.watch && barrier.expected == NamedBarrier::kWholeBlock &&
        barrier.arrived < warp_count_)
        notify_watch(*watch(),
                     [&](BlockWatch &by) { by.pass_without(warp_count_ - barrier.arrived); });
    while (!barrier.waiting.empty()) {
        WarpFiber &warp = barrier.waiting.pop();
        warp.result = barrier.sum;
        waiting_--;
        ready.push(warp);
    }
    barrier.result = barrier.sum;
    barrier.arrived = 0;
    barrier.sum = 0;
    barrier.passing = 0;
    barrier.gone = 0;
}

void ResidentBlock::end_warp(std::uint32_t warp, WarpQueue &ready) {
    live_--;
    for (NamedBarrier &barrier : barriers_)
        if (barrier.passing >> warp & 1)
            barrier.gone++;
    for (NamedBarrier &barrier : barriers_)
        if (barrier.arrived > 0 && barrier.arrived >= expected(barrier))
            complete(barrier, ready);
    if (live_ > 0)
        check_progress();
    else
        end();
}

void ResidentBlock::report_deadlock() const {
    char text[sizeof FaultReport::detail] = "";
    std::size_t used = 0;
    for (unsigned number = 0; number < kBarriers && used < sizeof text; number++) {
        const NamedBarrier &barrier = barriers_[number];
        if (barrier.arrived > 0)
            used += static_cast<std::size_t>(std::snprintf(
                text + used, sizeof text - used, "%s barrier %u at %s has %u of %u warps",
                used > 0 ? "," : "", number, barrier.place, barrier.arrived, expected(barrier)));
    }
    fail("deadlock: all %u warps that have not ended wait:%s", live_, text);
}

} // namespace softcuda::rt
