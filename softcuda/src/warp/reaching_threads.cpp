// reaching_threads.cpp -- finds the threads of a block that may come to each basic block.
//
//     if (threadIdx.x < 64) sums[threadIdx.x] += sums[threadIdx.x + 64];      threads 0 to 63
//
// Only branches that the threads' indices decide are followed; behind any other branch, each thread
// may be on both sides. What is known about an access then need not hold for the other threads.
#include "warp/kernel_plan.h"

#include <cstddef>
#include <vector>

namespace softcuda::warp {

namespace {

using analysis::kLanes;
using ir::Block;
using ir::Opcode;

LanesByWarp all_threads(unsigned threads) {
    LanesByWarp all((threads + kLanes - 1) / kLanes, ~std::uint32_t{0});
    if (threads % kLanes != 0)
        all.back() = (std::uint32_t{1} << threads % kLanes) - 1;
    return all;
}

/// Drops the threads that do not take the edge to successor `number`.
void keep_takers(const KernelPlan &plan, const Block &block, std::size_t number,
                 LanesByWarp &threads) {
    const ir::Instruction &end = *block.terminator();
    const analysis::PerThread *taken =
        end.is(Opcode::Branch) ? plan.thread_values.of(end.operand(0)) : nullptr;
    if (!taken)
        return;
    for (std::size_t thread = 0; thread < taken->size(); ++thread)
        if ((((*taken)[thread] & 1) != 0) != (number == 0))
            threads[thread / kLanes] &= ~(std::uint32_t{1} << thread % kLanes);
}

bool add(const LanesByWarp &more, LanesByWarp &threads) {
    bool grew = false;
    for (std::size_t warp = 0; warp < more.size(); ++warp) {
        grew |= (more[warp] & ~threads[warp]) != 0;
        threads[warp] |= more[warp];
    }
    return grew;
}

} // namespace

bool KernelPlan::may_come_to(const ir::Block *block, std::size_t thread) const {
    return reaching_threads.empty() ||
           (reaching_threads[block->id][thread / kLanes] >> thread % kLanes & 1) != 0;
}

void find_reaching_threads(KernelPlan &plan) {
    const unsigned threads = plan.launch.threads();
    plan.reaching_threads.assign(plan.function.blocks.size(),
                                 LanesByWarp((threads + kLanes - 1) / kLanes, 0));
    plan.reaching_threads[plan.function.entry()->id] = all_threads(threads);
    std::vector<const Block *> grown{plan.function.entry()};
    while (!grown.empty()) {
        const Block *block = grown.back();
        grown.pop_back();
        for (std::size_t number = 0; number < block->successors().size(); ++number) {
            LanesByWarp takers = plan.reaching_threads[block->id];
            keep_takers(plan, *block, number, takers);
            const Block *to = block->successors()[number];
            if (add(takers, plan.reaching_threads[to->id]))
                grown.push_back(to);
        }
    }
}

} // namespace softcuda::warp
