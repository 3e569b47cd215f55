// warp_scheduler.h -- runs the warps of resident blocks on one thread, each as a fiber.
//
// Runnable warps are in one queue. A warp that waits or yields switches directly to the first warp
// of the queue. The thread's own stack is used only between blocks:
//
//     thread   begin block 0 --> ...                                --> block done, begin the next
//     warp 0                 runs, barrier -->             runs, end -->
//     warp 1                                runs, barrier -------->      runs, end
//
// If all warps only yield, they wait for an action of another block. Then the thread starts one
// more block in addition to the resident blocks. So blocks that wait for each other, in any order,
// terminate. The same happens if warps yield for long and pass barriers meanwhile, and if warps run
// loops without a bounded trip count for long. The blocks of a cooperative grid start at once, as
// far as they are the thread's share.
//
// Warps may also block each other because of the points at which they yield. Example: a lock is
// acquired by adding 1, and the addition is undone if the old value was not 0. Each warp has added
// 1 at the end of an iteration:
//
//     warp 0   sub add |                 | sub add |              lock before each add: 1, never 0
//     warp 1           | sub add         |         | sub add
//
// So whenever all warps only yield, the yield point changes: to the next preemption point of the
// loop, and finally to the end of an iteration again. After the sub, no warp holds the lock.
#pragma once

#include "rt/resident_block.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace softcuda::rt {

/// The source of a scheduler's clusters of blocks; most clusters have one block.
class BlockSource {
  public:
    virtual ~BlockSource() = default;
    /// False if none is left.
    [[nodiscard]] virtual bool next(std::uint64_t &cluster) noexcept = 0;
};

class WarpScheduler {
  public:
    struct Job {
        WarpEntry entry = nullptr;
        const LaunchFrame *frame = nullptr;
        std::uint32_t warps = 1; ///< of a block
        BlockMemory memory;
        LaunchWatch *watch = nullptr;     ///< of a checked kernel
        LaunchCounter *counter = nullptr; ///< of a profiled kernel
        bool cooperative = false;         ///< all blocks will wait for each other: start them early
    };
    enum class End { Done, OutOfMemory };

    WarpScheduler() = default;
    WarpScheduler(const WarpScheduler &) = delete;
    WarpScheduler &operator=(const WarpScheduler &) = delete;

    /// Runs blocks until the source is empty, under the caller's guard. If the call is left by a
    /// jump, abandon() must be called.
    End run(const Job &job, const WorkerState &worker, BlockSource &source);

    /// Abandons all warps. The state of the last block that ran remains readable.
    void abandon() noexcept;

    /// The state of the warp that ran last, after abandon(); empty if none ran.
    [[nodiscard]] WorkerState last() const noexcept;

    // For the running warp; these return when the warp continues.
    std::uint32_t wait(std::uint32_t number, std::uint32_t threads, std::uint32_t part,
                       const char *place);
    void arrive(std::uint32_t number, std::uint32_t threads, const char *place);
    void yield();
    void pause(std::uint32_t work);
    void preempt(std::uint32_t point);
    /// A yield of the whole warp, whatever the yield point is.
    void yield_now();
    [[nodiscard]] WarpFiber &current() noexcept { return *current_; }

    // For a warp whose lanes call functions one by one (rt/lane_calls.h).
    /// Runs a lane until it rests.
    void run_lane(Fiber &lane);
    /// The running lane rests: its warp continues where it called run_lane().
    void rest_lane();
    /// The preemption point at which warps yield; 0: at the end of an iteration.
    [[nodiscard]] std::uint32_t preempted_at() const noexcept { return preempted_at_; }

  private:
    static void run_warp(void *fiber);
    [[noreturn]] void end_warp(WarpFiber &warp);
    [[nodiscard]] std::uint32_t cluster_blocks() const noexcept;
    [[nodiscard]] std::uint64_t block_index(std::uint64_t cluster,
                                            std::uint32_t rank) const noexcept;
    [[nodiscard]] bool find_room() noexcept;
    [[nodiscard]] bool starves() noexcept;
    void begin_cluster(const WorkerState &worker, std::uint64_t index);
    [[nodiscard]] std::uint64_t clusters_wanted(const WorkerState &worker);
    void wait_for_cluster(const char *place);
    void arrive_at_cluster(const char *place, bool releases);
    void set_current(WarpFiber &warp);
    void switch_to(WarpFiber &next);
    void leave(WarpFiber &self);
    void back_to_thread(WarpFiber &self);
    void retire();
    void relax();
    void let_others_run();
    void move_preemption();
    void forget_waiting() noexcept;
    [[nodiscard]] bool is_quiet() noexcept;
    [[nodiscard]] bool stuck() const noexcept {
        return yields_ > patience_ || turns_ > most_turns_ || quiet_;
    }

    Job job_;
    Fiber thread_;
    StackRange stack_; ///< of the current warp
    WarpQueue ready_;
    WarpFiber *current_ = nullptr; ///< null: the thread's own stack
    std::vector<std::unique_ptr<ResidentBlock>> free_, resident_;
    ResidentBlock *finished_ = nullptr; ///< the one whose last warp has ended
    std::uint64_t yields_ = 0;          ///< yields since the last other event
    std::uint64_t patience_ =
        0; ///< the number of yields after which all warps are considered waiting
    /// Yields since a block has begun or a warp has ended: warps may pass barriers in a loop that
    /// waits for another block. In a cooperative grid, waits at barriers count as well.
    std::uint64_t turns_ = 0, most_turns_ = 0;
    std::uint32_t work_ = 0;          ///< since other warps ran: see scu_pause
    unsigned pauses_ = 0;             ///< calls of let_others_run() by pause()
    std::uint64_t quiet_since_ = 0;   ///< the time of the first look since such an event; 0: none
    bool quiet_ = false;              ///< no such event for long, although warps pause
    std::uint64_t most_resident_ = 0; ///< blocks; 0: not determined yet
    unsigned idle_rounds_ = 0;
    std::uint64_t starved_since_ =
        0; ///< the time since which no block could be started; 0: none failed
    /// The yield point of warps: 0 is the end of each iteration; otherwise the number of a
    /// preemption point.
    std::uint32_t preempted_at_ = 0;
    std::uint32_t last_point_ =
        0; ///< the highest preemption point that a warp has reached since the last change
    unsigned iterations_ = 0; ///< ends of iterations since the last yield
    const WarpFiber *last_ = nullptr;
};

} // namespace softcuda::rt
