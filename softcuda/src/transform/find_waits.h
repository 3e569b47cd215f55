// find_waits.h -- what follows from the loops that may wait for another thread.
//
// A loop waits unless there is a proof that it ends (find_loop_ends.h). The possible tiers depend
// on the other thread. Warps that are fibers yield to each other. But the lanes of one warp run the
// program together: a lane that has left a loop, or took the other side of a branch, pauses until
// the other lanes reconverge with it:
//
//     while (atomicCAS(lock, 0, 1) != 0);      one lane gets the lock and waits here ...
//     use();
//     lock = 0;                                ... for the lanes that wait for this
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
#include "transform/find_loop_ends.h"
#include "transform/schedule.h"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace softcuda::transform {

/// In one loop.
inline constexpr std::size_t kMostPreemptionPoints = 255;

struct Waits {
    std::vector<bool> loops; ///< by loop: whether it may wait for another thread
    /// The instruction that reads the awaited value in one of them, or the branch of the loop's
    /// header if the value is unknown; null: no loop waits.
    const ir::Instruction *cause = nullptr;
    /// The instruction in a loop that may wait for another lane of the same warp; null: none.
    const ir::Instruction *lane_cause = nullptr;
    /// Writes after which a warp may be interrupted, each with the number of its point, from 1 on
    /// in each loop: copies of an unrolled loop have the same numbers, and warps that wait in
    /// different copies are interrupted at the same write.
    std::map<const ir::Instruction *, std::uint32_t> preemption_points;
};

/// For a prepared function. `ends`: by loop; empty if no loop is known to end. `lanes_outside`:
/// other lanes of the warp may be outside of the function.
[[nodiscard]] Waits find_waits(const ir::Function &function, const analysis::Divergence &divergence,
                               const analysis::LoopForest &loops, const Schedule &schedule,
                               std::span<const LoopEnd> ends, bool lanes_outside);

} // namespace softcuda::transform
