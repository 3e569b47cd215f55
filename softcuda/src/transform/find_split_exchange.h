// find_split_exchange.h -- exchanges between lanes that may have to wait for lanes elsewhere.
//
// Since sm_70, the lanes in a member mask meet wherever in the program each of them is:
//
//     if (lane < 16) { __syncwarp(); read(); }       all 32 lanes meet, at two places
//     else           { write(); __syncwarp(); }
//
// In regions and in fibers the lanes of a warp run the program together, and an exchange is
// performed with the lanes that execute it. The result is correct if all members execute it, or if
// the other members cannot reach a matching exchange before these lanes continue. This is proved
// by:
//
//     no lane waits elsewhere                        the usual case
//     members by the thread's index                  if (tid < 16) shuffle(0xffff)
//     members that were found among the lanes here   m = ballot(p); if (p) shuffle(m)
//     members and branches by groups of lanes        tiles of 8 lanes, one row each
//     no matching exchange for the other lanes       up to the next barrier of the block
#pragma once

#include "analysis/shape.h"
#include "analysis/thread_values.h"
#include "ir/ir.h"
#include "transform/schedule.h"

#include <cstdint>
#include <span>

namespace softcuda::transform {

/// The other functions in which lanes of the warp may be.
struct CallsOfWarp {
    std::span<const std::uint32_t> exchanging; ///< functions of the module that have exchanges
    bool lanes_outside = false;                ///< lanes may be outside while others are here
};

/// The first exchange for which there is no proof; null if there is none.
[[nodiscard]] const ir::Instruction *
find_split_exchange(const ir::Function &function, const analysis::LaunchShape &launch,
                    const analysis::Divergence &divergence, const Schedule &schedule,
                    const analysis::ThreadValues &thread_values, const CallsOfWarp &calls);

} // namespace softcuda::transform
