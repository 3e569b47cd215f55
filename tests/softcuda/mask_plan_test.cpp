// mask_plan_test.cpp -- tests that verify_masks() finds errors in a plan of masks.
#include "spoil_plan.h"

#include <string>

namespace {

using namespace softcuda;
using warp::BlockMask;
using warp::Edge;
using warp::Join;
using warp::KernelPlan;

constexpr const char *kKernel = R"(kernel k {
  .parameters 0:8:8 8:4:4 bytes 12
entry:
  %0 = special.tid.x
  %1 = load_param.u64 [0]
  %2 = load_param.u32 [8]
  %3 = cmp.lt.u32 %0, %2
  %4:i32 = undef
  branch %3, left, right
left:
  %5 = mul.u32 %0, %0
  jump join
right:
  store.global.u32 [%1], %0
  jump join
join:
  %6:i32 = phi [%5, left], [%4, right]
  %7:i32 = phi [%0, left], [%2, right]
  %8 = add.u32 %6, %7
  store.global.u32 [%1], %8
  exit
}
)";

warp::BlockFlow &flow(KernelPlan &plan, const std::string &name) {
    for (const ir::Block *block : plan.function.blocks)
        if (block->name == name)
            return plan.masks.blocks[block->id];
    std::abort();
}

std::string wrong_after(const test::Spoil &spoil) {
    return test::wrong_after(kKernel, {.block = {64, 1, 1}}, warp::verify_masks, spoil);
}

bool finds(const char *what, const test::Spoil &spoil) {
    return test::finds(what, wrong_after(spoil));
}

} // namespace

int main() {
    CHECK(wrong_after([](KernelPlan &) {}).empty());
    CHECK(finds("on 0 edges", [](KernelPlan &plan) { flow(plan, "entry").edges.pop_back(); }));
    CHECK(finds("do not match the mask of join",
                [](KernelPlan &plan) { flow(plan, "left").edges[0].arrive = Edge::Arrive::Set; }));
    CHECK(finds("has no value for a phi of join",
                [](KernelPlan &plan) { flow(plan, "left").edges[0].joins.pop_back(); }));
    CHECK(finds("has the value of another edge", [](KernelPlan &plan) {
        flow(plan, "left").edges[0].joins[1].value = flow(plan, "right").edges[0].joins[1].value;
    }));
    CHECK(finds("writes an undefined value", [](KernelPlan &plan) {
        flow(plan, "right").edges[0].joins[0].write = Join::Write::Set;
    }));
    CHECK(finds("in too few lanes",
                [](KernelPlan &plan) { plan.masks.starts_zero.assign(100, false); }));
    CHECK(finds("overwrites values of lanes that wait", [](KernelPlan &plan) {
        flow(plan, "right").edges[0].joins[1].write = Join::Write::Set;
    }));
    CHECK(finds("may run without an active lane",
                [](KernelPlan &plan) { flow(plan, "left").mask.guarded = false; }));
    CHECK(finds("keeps no mask", [](KernelPlan &plan) {
        BlockMask &mask = flow(plan, "join").mask;
        mask.from = BlockMask::From::Owner;
        mask.owner = plan.function.entry();
    }));
    // Found by the simulation of a warp.
    CHECK(finds("a lane never leaves this basic block",
                [](KernelPlan &plan) { flow(plan, "right").edges[0].next = nullptr; }));
    return test::status();
}
