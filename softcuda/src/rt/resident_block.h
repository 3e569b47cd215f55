// resident_block.h -- a block whose warps are fibers: its memory, its stacks, its barriers.
//
// A block is *resident* from its first warp's start to its last warp's end. All its warps run on
// one thread, one at a time, so nothing here is synchronised.
#pragma once

#include "rt/cluster.h"
#include "rt/counts.h"
#include "rt/fiber.h"
#include "rt/kernel_abi.h"
#include "rt/reserved_range.h"
#include "rt/watch.h"
#include "rt/worker_slot.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace softcuda::rt {

class WarpScheduler;

/// The state of one of a block's barriers since its last completion.
struct NamedBarrier {
    std::uint32_t expected = 0; ///< warps; kWholeBlock: all live warps
    std::uint32_t arrived = 0;
    std::uint32_t sum = 0;       ///< the sum over the arrived warps
    std::uint32_t result = 0;    ///< the sum of the last completion
    const char *place = nullptr; ///< the place of the last arrival
    std::uint32_t passing = 0;   ///< warps, as bits, that arrived without waiting
    std::uint32_t gone = 0;      ///< the number of these warps that have ended
    WarpQueue waiting;

    static constexpr std::uint32_t kWholeBlock = ~0u;
};

class ResidentBlock {
  public:
    static constexpr unsigned kBarriers = 16; ///< barriers of a block in PTX

    explicit ResidentBlock(WarpScheduler &scheduler) : scheduler_(scheduler) {}
    ResidentBlock(const ResidentBlock &) = delete;
    ResidentBlock &operator=(const ResidentBlock &) = delete;

    static ResidentBlock &of(WorkerState *worker) noexcept {
        return *static_cast<ResidentBlock *>(worker->resident);
    }

    /// Makes memory and stacks for a block of `warps` warps accessible. False if memory runs out.
    [[nodiscard]] bool prepare(const BlockMemory &needs, std::uint32_t warps) noexcept;
    /// Starts block `index` of a grid: all its warps are at the start of `body`, and are added to
    /// `ready`. The block becomes the next block of `cluster`.
    void begin(const WorkerState &worker, std::uint64_t index, Fiber::Body body, WarpQueue &ready,
               Cluster &cluster);

    /// The calls of the warp's lanes, one by one. Ends the launch if memory runs out.
    [[nodiscard]] LaneCalls &calls_of(WarpFiber &warp);
    [[noreturn]] static void fail_without_stacks(const WarpFiber &warp);

    /// Watches the block from now until its end. Ends the launch if memory runs out.
    void watch_by(LaunchWatch &watcher);
    [[nodiscard]] BlockWatch *watch() const noexcept {
        return static_cast<BlockWatch *>(state_.watch);
    }
    /// Counts for the profile from now until the block's end. Ends the launch if memory runs out.
    void count_by(LaunchCounter &counter);
    [[noreturn]] static void fail_without_counters();
    /// Ends the effect of watch_by() and count_by().
    void end_watch() noexcept;
    void end();

    /// A warp arrives at a barrier. True if it was the last arrival: the barrier has its result,
    /// and the waiting warps are added to `ready`.
    bool arrive(NamedBarrier &barrier, std::uint32_t part, const char *place, WarpQueue &ready) {
        barrier.arrived++;
        barrier.sum += part;
        barrier.place = place;
        if (barrier.arrived < expected(barrier))
            return false;
        complete(barrier, ready);
        return true;
    }
    /// Records that the arrived warp does not wait.
    static void pass(NamedBarrier &barrier, std::uint32_t warp) {
        if (barrier.arrived > 0) // else it was the last arrival
            barrier.passing |= 1u << warp;
    }
    /// Records that a warp has ended, which may complete barriers of the whole block.
    void end_warp(std::uint32_t warp, WarpQueue &ready);

    /// Barrier `number` for `threads` threads (0: the whole block). Ends the launch with a fault if
    /// the number of threads contradicts an earlier arrival.
    NamedBarrier &barrier(std::uint32_t number, std::uint32_t threads, const char *place) {
        const bool plain = number < kBarriers && threads == 0 &&
                           (barriers_[number].arrived == 0 ||
                            barriers_[number].expected == NamedBarrier::kWholeBlock);
        if (!plain)
            return configure(number, threads, place);
        barriers_[number].expected = NamedBarrier::kWholeBlock;
        return barriers_[number];
    }
    /// Makes the warp wait at the barrier. Ends the launch with a fault if no warp can continue any
    /// more.
    void wait(NamedBarrier &barrier, WarpFiber &warp) {
        barrier.waiting.push(warp);
        waiting_++;
        check_progress();
    }

    [[nodiscard]] std::uint64_t index() const noexcept { return index_; }
    [[nodiscard]] WorkerState &state() noexcept { return state_; }
    [[nodiscard]] WarpScheduler &scheduler() noexcept { return scheduler_; }
    [[nodiscard]] bool done() const noexcept { return live_ == 0; }
    [[nodiscard]] Cluster &cluster() noexcept { return *cluster_; }
    [[nodiscard]] const Cluster &cluster() const noexcept { return *cluster_; }
    [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
    /// For the cluster of which it is the first block.
    [[nodiscard]] Cluster &own_cluster() noexcept { return own_cluster_; }
    [[nodiscard]] const std::byte *shared() const noexcept { return state_.shared; }
    /// The number of bytes of the window that belong to the block.
    [[nodiscard]] std::uint64_t shared_bytes() const noexcept { return shared_bytes_; }

  private:
    [[nodiscard]] std::byte *stack_of(std::uint32_t warp) const noexcept;
    [[nodiscard]] std::uint32_t expected(const NamedBarrier &barrier) const noexcept {
        return barrier.expected == NamedBarrier::kWholeBlock ? live_ + barrier.gone
                                                             : barrier.expected;
    }
    void complete(NamedBarrier &barrier, WarpQueue &ready);
    NamedBarrier &configure(std::uint32_t number, std::uint32_t threads, const char *place);
    void check_progress() const {
        if (waiting_ == live_)
            report_deadlock();
    }
    [[noreturn]] void report_deadlock() const;

    WarpScheduler &scheduler_;
    LaunchWatch *watcher_ = nullptr;
    LaunchCounter *counter_ = nullptr;
    WorkerState state_{};
    std::uint64_t index_ = 0; ///< the linear index in the grid
    Cluster *cluster_ = &own_cluster_;
    Cluster own_cluster_;
    std::uint32_t rank_ = 0;
    std::uint64_t shared_bytes_ = 0;
    Windows windows_;
    std::unique_ptr<ReservedRange> stacks_;
    std::vector<std::unique_ptr<WarpFiber>> warps_;
    std::uint64_t stack_spacing_ = 0; ///< bytes from one warp's stack to the next
    std::uint32_t open_stacks_ = 0;
    std::uint32_t warp_count_ = 0;
    std::uint32_t live_ = 0;    ///< warps that have not ended
    std::uint32_t waiting_ = 0; ///< those of them that wait at a barrier
    std::array<NamedBarrier, kBarriers> barriers_;
};

} // namespace softcuda::rt
