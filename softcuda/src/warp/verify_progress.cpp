// verify_progress.cpp -- checks that a thread which waits lets the awaited thread run.
//
//     regions    each loop is proved to end without another thread
//     fibers     each loop that is not counted lets other warps run, and no lane waits for a paused
//                lane of its warp
//     lanes      nothing: the runtime chooses the lanes that run at each place
//     (rt/lane_scheduler.cpp);
//                verify_lanes.cpp checks the places
//
// A counted loop is checked again: each iteration passes an exit that compares integers.
#include "warp/kernel_plan.h"

#include <algorithm>

namespace softcuda::warp {

namespace {

using analysis::Loop;
using ir::Block;
using ir::Instruction;
using ir::Opcode;
using transform::LoopProof;
using Yield = KernelPlan::Yield;

/// Whether a comparison of integers is among the values that decide.
bool compares_integers(const ir::Value *condition) {
    const Instruction *i = condition->definition;
    if (!i)
        return false;
    if (i->is(Opcode::Compare))
        return !ir::is_floating(i->attributes.type);
    return (i->is(Opcode::And) || i->is(Opcode::Or) || i->is(Opcode::Not)) &&
           std::ranges::any_of(i->operands, compares_integers);
}

class ProgressVerifier {
  public:
    explicit ProgressVerifier(const KernelPlan &plan) : plan_(plan) {}

    std::vector<std::string> run() {
        for (std::size_t loop = 0; loop < plan_.loops.loops().size(); ++loop)
            check_loop(plan_.loops.loops()[loop], static_cast<int>(loop));
        const bool together = plan_.tier.tier != rt::Tier::Lanes;
        if (together && !plan_.loops.reducible())
            wrong_.emplace_back("lanes run together in a loop with several entries");
        if (together && plan_.waits.lane_cause)
            wrong_.emplace_back("lanes run together, but one may wait for another");
        if (together && plan_.request.lanes_outside && plan_.waits.cause)
            wrong_.emplace_back("lanes run together, but one may wait for a lane outside");
        return std::move(wrong_);
    }

  private:
    void require(bool holds, const Loop &loop, const std::string &what) {
        if (!holds)
            wrong_.push_back("loop of " + loop.header->name + ": " + what);
    }

    void check_loop(const Loop &loop, int number) {
        const auto at = static_cast<std::size_t>(number);
        const LoopProof proof =
            plan_.loop_ends.empty() ? LoopProof::None : plan_.loop_ends.at(at).proof;
        require(plan_.waits.loops.at(at) == (proof == LoopProof::None), loop,
                "is not planned as its proof says");
        if (proof == LoopProof::Counted)
            require(passes_comparison(loop, number), loop,
                    "is counted, but an iteration need not pass a comparison of integers");
        if (plan_.tier.tier == rt::Tier::Regions)
            require(proof != LoopProof::None, loop, "may wait, but other warps cannot run");
        if (plan_.tier.tier == rt::Tier::Fibers && proof != LoopProof::Counted)
            check_yields(loop, number, proof);
    }

    void check_yields(const Loop &loop, int number, LoopProof proof) {
        for (const Block *block : loop.blocks) {
            if (std::ranges::find(block->successors(), loop.header) == block->successors().end())
                continue;
            const Yield yield = plan_.yields.at(block->id);
            require(yield != Yield::Never, loop, "does not let other warps run");
            require(proof != LoopProof::None || yield == Yield::Always, loop,
                    "may wait, but does not yield in each iteration");
            require(plan_.loops.contains(number, block), loop, "has a back edge from outside");
        }
    }

    bool passes_comparison(const Loop &loop, int number) const {
        return std::ranges::any_of(loop.blocks, [&](const Block *block) {
            const Instruction &end = *block->terminator();
            return end.is(Opcode::Branch) && compares_integers(end.operand(0)) &&
                   std::ranges::any_of(
                       block->successors(),
                       [&](const Block *to) { return !plan_.loops.contains(number, to); }) &&
                   std::ranges::all_of(loop.latches, [&](const Block *latch) {
                       return plan_.dominators.dominates(block, latch);
                   });
        });
    }

    const KernelPlan &plan_;
    std::vector<std::string> wrong_;
};

} // namespace

std::vector<std::string> verify_progress(const KernelPlan &plan) {
    return ProgressVerifier(plan).run();
}

} // namespace softcuda::warp
