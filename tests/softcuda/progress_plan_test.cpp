// progress_plan_test.cpp -- tests that verify_progress() finds errors in a plan of loops and
// yields.
#include "spoil_plan.h"

#include <algorithm>
#include <string>

namespace {

using namespace softcuda;
using transform::LoopProof;
using warp::KernelPlan;

// A count, a list, and a flag.
constexpr const char *kKernel = R"(kernel k {
  .parameters 0:8:8 bytes 8
entry:
  %0 = load_param.u64 [0]
  jump count
count:
  %1:i32 = phi [i32 0, entry], [%2, count]
  reduce.add.global.u32 [%0], i32 1
  %2 = add.u32 %1, i32 1
  %3 = cmp.lt.u32 %2, i32 40
  branch %3, count, list
list:
  %4:i64 = phi [%0, count], [%5, list]
  %5 = load.global.u64 [%4]
  %6 = cmp.ne.u64 %5, i64 0
  branch %6, list, spin
spin:
  %7 = load.volatile.global.u32 [%0]
  %8 = cmp.eq.u32 %7, i32 0
  branch %8, spin, end
end:
  exit
}
)";

bool finds(const char *what, const test::Spoil &spoil) {
    return test::finds(
        what, test::wrong_after(kKernel, {.block = {64, 1, 1}}, warp::verify_progress, spoil));
}

void set_yields(KernelPlan &plan, LoopProof proof, KernelPlan::Yield yield) {
    for (std::size_t loop = 0; loop < plan.loop_ends.size(); ++loop)
        if (plan.loop_ends[loop].proof == proof)
            for (const ir::Block *latch : plan.loops.loops()[loop].latches)
                plan.yields[latch->id] = yield;
}

} // namespace

int main() {
    CHECK(test::wrong_after(kKernel, {.block = {64, 1, 1}}, warp::verify_progress,
                            [](KernelPlan &plan) {
                                CHECK(plan.tier.tier == rt::Tier::Fibers);
                                CHECK(plan.loop_ends.size() == 3);
                            }) == "");
    CHECK(finds("other warps cannot run",
                [](KernelPlan &plan) { plan.tier.tier = rt::Tier::Regions; }));
    CHECK(finds("does not let other warps run", [](KernelPlan &plan) {
        set_yields(plan, LoopProof::Data, KernelPlan::Yield::Never);
    }));
    CHECK(finds("does not yield in each iteration", [](KernelPlan &plan) {
        set_yields(plan, LoopProof::None, KernelPlan::Yield::Sometimes);
    }));
    CHECK(finds("is not planned as its proof says",
                [](KernelPlan &plan) { plan.loop_ends.clear(); }));
    CHECK(finds("need not pass a comparison", [](KernelPlan &plan) {
        // The list's exit compares integers, so only the branch of the count is spoiled.
        for (const ir::Block *block : plan.function.blocks)
            if (block->name == "count")
                block->terminator()->operands[0] =
                    block->terminator()->operands[0]->definition->operands[0];
    }));
    CHECK(finds("one may wait for another",
                [](KernelPlan &plan) { plan.waits.lane_cause = plan.waits.cause; }));
    return test::status();
}
