// find_parted_exchange.h -- exchanges between lanes that may have to wait for lanes elsewhere.
//
// Since sm_70 the lanes that a member mask names meet wherever in the program each of them is:
//
//     if (lane < 16) { __syncwarp(); read(); }       all 32 lanes meet, at two places
//     else           { write(); __syncwarp(); }
//
// In regions and in fibers a warp's lanes go through the program together, and an exchange is done
// for those that are there. That is the same thing if all members are there, or if those that are
// not cannot come to an exchange like this one before the lanes here go on. Which is proved by:
//
//     no lane waits elsewhere                        the usual case
//     members by the thread's index                  if (tid < 16) shuffle(0xffff)
//     members that were found among the lanes here   m = ballot(p); if (p) shuffle(m)
//     members and branches by groups of lanes        tiles of 8 lanes, one row each
//     nothing alike on the other lanes' way          as far as the next barrier of the block
#pragma once

#include "analysis/shape.h"
#include "analysis/thread_values.h"
#include "ir/ir.h"
#include "transform/schedule.h"

namespace softcuda::transform {

/// The first exchange of which that is not proved; null if there is none.
[[nodiscard]] const ir::Instruction *
find_parted_exchange(const ir::Function &function, const analysis::LaunchShape &launch,
                     const analysis::Divergence &divergence, const Schedule &schedule,
                     const analysis::ThreadValues &thread_values);

} // namespace softcuda::transform
