// whole_warps.h -- basic blocks that have a second version of code, for warps with all lanes.
//
//     if (x < width && y < height)              for (i = thread; i < n; i += threads)
//         out[i] = in[i - 1] + in[i + 1];           sum += in[i];
//
// Such conditions give a warp a mask. But they are true for all lanes of nearly every warp, and
// code under a mask is longer on many processors: a masked access is no operand of another
// instruction, bytes have no masks at all, and a loop keeps the values of lanes that have left it.
// So a basic block may have two versions. The warp goes to the version for all lanes when a test
// finds that all are there, and stays in it while branches are taken by all lanes.
//
// Both versions keep values and masks in the same places. So a warp may change from one to the
// other at the begin of any basic block.
#pragma once

#include <string>
#include <vector>

namespace softcuda::warp {

struct KernelPlan;

/// By Block::id: the basic block has a version for all lanes. Empty: none has.
using WholeWarps = std::vector<bool>;

/// Chooses the basic blocks for which a second version takes much less time. Those that have the
/// same lanes are chosen together.
void choose_whole_warps(KernelPlan &plan);

/// One line for each mask: `body: masks cost 21 of 45 instructions, two versions`.
[[nodiscard]] std::string print_whole_warps(const KernelPlan &plan);

} // namespace softcuda::warp
