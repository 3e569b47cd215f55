// warp_scheduler.h -- runs the warps of resident blocks on one thread, each as a fiber.
//
// Warps that can go on stand in one queue. A warp that has to wait, or gives way, switches straight
// to the first of the queue; the thread's own stack is only needed between blocks:
//
//     thread   begin block 0 --> ...                                --> block done, begin the next
//     warp 0                 runs, barrier -->             runs, end -->
//     warp 1                                runs, barrier -------->      runs, end
//
// Where all warps only give way to each other, they wait for something that another block has to
// do: then the thread begins one more block beside those that are resident already. So blocks that
// wait for each other, in any order, come to an end; a cooperative grid needs nothing else.
//
// Warps may also keep each other waiting by where they give way. Of a lock that warps take by
// adding one, and take back where it was not 0, each holds one at the end of an iteration:
//
//     warp 0   sub add |                 | sub add |              lock before each add: 1, never 0
//     warp 1           | sub add         |         | sub add
//
// So, whenever all only give way, they do it elsewhere from then on: at one preemption point of the
// loop after the other, and at the end of an iteration again. Behind the sub no warp holds
// anything.
#pragma once

#include "rt/resident_block.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace softcuda::rt {

/// Where a scheduler gets clusters of blocks from; mostly of one block each.
class BlockSource {
  public:
    virtual ~BlockSource() = default;
    /// False when there are none left.
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
        bool cooperative = false;         ///< all blocks will wait for each other: begin them soon
    };
    enum class End { Done, OutOfMemory };

    WarpScheduler() = default;
    WarpScheduler(const WarpScheduler &) = delete;
    WarpScheduler &operator=(const WarpScheduler &) = delete;

    /// Runs blocks until the source is empty, under the caller's guard. If that is left by a jump,
    /// abandon() must be called.
    End run(const Job &job, const WorkerState &worker, BlockSource &source);

    /// Forgets all warps, wherever they were. The state of the block that ran last stays readable.
    void abandon() noexcept;

    /// The state of the warp that ran last, after abandon(); empty if none ran.
    [[nodiscard]] WorkerState last() const noexcept;

    // For the warp that runs now; they return when it goes on.
    std::uint32_t wait(std::uint32_t number, std::uint32_t threads, std::uint32_t part,
                       const char *place);
    void arrive(std::uint32_t number, std::uint32_t threads, const char *place);
    void yield();
    void preempt(std::uint32_t point);

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
    void arrive_at_cluster(const char *place);
    void set_current(WarpFiber &warp);
    void go_on_with(WarpFiber &next);
    void leave(WarpFiber &self);
    void back_to_thread(WarpFiber &self);
    void retire();
    void relax();
    void give_way();
    void move_preemption();
    [[nodiscard]] bool stuck() const noexcept { return gave_way_ > patience_; }

    Job job_;
    Fiber thread_;
    std::uint64_t stack_begin_ = 0; ///< of the current warp
    WarpQueue ready_;
    WarpFiber *current_ = nullptr; ///< null: the thread's own stack
    std::vector<std::unique_ptr<ResidentBlock>> free_, resident_;
    ResidentBlock *finished_ = nullptr; ///< the one whose last warp has ended
    std::uint64_t gave_way_ = 0;        ///< yields since anything else happened
    std::uint64_t patience_ = 0;        ///< how many until it is said that all wait
    std::uint64_t most_resident_ = 0;   ///< blocks; 0: not asked for yet
    unsigned idle_rounds_ = 0;
    std::uint64_t starved_since_ = 0; ///< when there was first no room for a block; 0: there was
    /// Where warps give way: 0: at the end of each iteration; else behind this preemption point.
    std::uint32_t preempted_at_ = 0;
    std::uint32_t last_point_ = 0; ///< the highest that a warp has come to since that last changed
    unsigned iterations_ = 0;      ///< ends of iterations since a warp gave way
    const WarpFiber *last_ = nullptr;
};

} // namespace softcuda::rt
