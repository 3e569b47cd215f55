// find_waits.h -- loops that end only after another thread has done something.
//
//     while (atomicCAS(lock, 0, 1) != 0);      a thread in this loop waits for the thread that
//     while (ld.acquire(flag) == 0);           holds the lock, or that will set the flag
//
// The possible tiers depend on the other thread. Warps that are fibers yield to each other. But the
// lanes of one warp run the program together: a lane that has left a loop, or took the other side
// of a branch, pauses until the other lanes reconverge with it:
//
//     while (atomicCAS(lock, 0, 1) != 0);      one lane gets the lock and waits here ...
//     use();
//     lock = 0;                                ... for the lanes that wait for this
//
// A loop waits if its end depends on a *signal*, a value that another thread may change meanwhile:
//
//     ordered loads      volatile, relaxed, acquire, and ld.cv
//     atomics            except those that end their own loop: a compare-and-swap of an update, and
//                        a count that nothing else in the loop changes
//     weak loads         that may read one place again, in a loop without a bounded trip count. A
//                        compiler keeps such a load in a loop only if something in the loop orders
//                        or writes memory, or if the program forbids to move it
//
// Shared memory is not a signal if all threads of the block meet at a barrier in each iteration,
// because then the thread that writes it makes progress.
//
// A loop that waits and writes memory twice in an iteration may block other warps, depending on the
// point at which it yields:
//
//     while (atomicAdd(lock, 1) != 0)          if each warp yields here, after the addition,
//         atomicSub(lock, 1);                  none ever finds the lock at 0
//
// So each of these writes is a *preemption point*: warps that seem to wait for each other are also
// interrupted after it (rt/warp_scheduler.h).
//
// After ElTantawy and Aamodt, "MIMD Synchronization on SIMT Architectures" (MICRO 2016).
#pragma once

#include "analysis/shape.h"
#include "ir/ir.h"
#include "transform/schedule.h"

#include <cstdint>
#include <map>
#include <vector>

namespace softcuda::transform {

/// In one loop.
inline constexpr std::size_t kMostPreemptionPoints = 255;

struct Waits {
    std::vector<bool> loops; ///< by loop: whether it may wait for another thread
    /// The instruction that reads the awaited value in one of them; null: none.
    const ir::Instruction *cause = nullptr;
    /// The instruction in a loop that may wait for another lane of the same warp; null: none.
    const ir::Instruction *lane_cause = nullptr;
    /// Writes after which a warp may be interrupted, each with the number of its point, from 1 on
    /// in each loop: copies of an unrolled loop have the same numbers, and warps that wait in
    /// different copies are interrupted at the same write.
    std::map<const ir::Instruction *, std::uint32_t> preemption_points;
};

/// Analyses each loop of a prepared function.
[[nodiscard]] Waits find_waits(const ir::Function &function, const analysis::Divergence &divergence,
                               const analysis::LoopForest &loops, const Schedule &schedule);

} // namespace softcuda::transform
