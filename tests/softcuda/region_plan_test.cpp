// region_plan_test.cpp -- tests that verify_regions() finds errors in a plan of regions.
#include "spoil_plan.h"

#include <string>

namespace {

using namespace softcuda;
using warp::Fetch;
using warp::KernelPlan;

// %7 is stored by region 0, %8 and %9 are recomputed in each iteration; the mask of `work` crosses
// the barrier.
constexpr const char *kKernel = R"(kernel k {
  .parameters 0:8:8 8:4:4 bytes 12
entry:
  %0 = special.tid.x
  %1 = load_param.u64 [0]
  %2 = load_param.u32 [8]
  %3 = cmp.lt.u32 %0, %2
  branch %3, work, out
work:
  %4 = cvt.u64.u32 %0
  %5 = add.u64 %1, %4
  %6 = load.global.u32 [%5]
  %7 = load.global.u32 [%5 + 4]
  jump loop
loop:
  %8:i32 = phi [%6, work], [%11, back]
  %9:i32 = phi [i32 0, work], [%12, back]
  barrier i32 0
  jump back
back:
  %10 = load.global.u32 [%5]
  %11 = add.u32 %8, %10
  %12 = add.u32 %9, i32 1
  %13 = cmp.lt.u32 %12, %2
  branch %13, loop, end
end:
  %14 = add.u32 %11, %7
  store.global.u32 [%5], %14
  jump out
out:
  exit
}
)";

std::string wrong_after(const test::Spoil &spoil) {
    return test::wrong_after(kKernel, {.block = {64, 1, 1}}, warp::verify_regions, spoil);
}

bool finds(const char *what, const test::Spoil &spoil) {
    return test::finds(what, wrong_after(spoil));
}

void drop_fetch(KernelPlan &plan, std::size_t number) {
    const ir::Value *value = plan.regions[1].fetches.at(number).value;
    std::erase_if(plan.regions[1].fetches, [&](const Fetch &f) { return f.value == value; });
    for (warp::Region &region : plan.regions)
        std::erase(region.ends.front().keeps, value);
}

} // namespace

int main() {
    CHECK(wrong_after([](KernelPlan &) {}).empty());
    CHECK(finds("must end once at each of its barriers",
                [](KernelPlan &plan) { plan.regions[1].ends.clear(); }));
    CHECK(finds("does not continue after",
                [](KernelPlan &plan) { plan.regions[1].ends[0].region = 0; }));
    CHECK(finds("which no region fetches",
                [](KernelPlan &plan) { plan.regions[1].fetches.pop_back(); }));
    CHECK(finds("twice", [](KernelPlan &plan) {
        plan.regions[1].fetches.push_back(plan.regions[1].fetches.front());
    }));
    CHECK(finds("which no region keeps", [](KernelPlan &plan) {
        const ir::Block *entry = plan.function.entry();
        plan.regions[1].fetches.push_back({.value = entry->instructions.front()->result()});
    }));
    CHECK(finds("a region sets exactly", [](KernelPlan &plan) {
        Fetch &fetch = plan.regions[1].fetches.front();
        fetch.set = !fetch.set;
    }));
    CHECK(finds("may differ between warps", [](KernelPlan &plan) {
        plan.regions[1].fetches.front().from = Fetch::From::Block;
    }));
    CHECK(finds("has no active warp",
                [](KernelPlan &plan) { plan.regions[0].active_warps = std::uint64_t{1} << 2; }));
    CHECK(finds("they are not in lockstep",
                [](KernelPlan &plan) { plan.regions[0].active_warps = 1; }));
    CHECK(finds("does not start after its barrier",
                [](KernelPlan &plan) { plan.regions[1].barrier = nullptr; }));
    // Found by the simulation of a warp.
    for (std::size_t number = 0; number < 3; ++number)
        CHECK(finds("which the region does not fetch",
                    [&](KernelPlan &plan) { drop_fetch(plan, number); }));
    CHECK(finds("which the region does not fetch",
                [](KernelPlan &plan) { plan.regions[0].ends[0].keeps.clear(); }));
    CHECK(finds("is that of another path",
                [](KernelPlan &plan) { plan.regions[1].ends[0].keeps.clear(); }));
    CHECK(finds("does not exist", [](KernelPlan &plan) { plan.regions[1].masks.clear(); }));
    CHECK(finds("does not exist", [](KernelPlan &plan) { plan.regions[0].ends[0].masks.clear(); }));
    CHECK(finds("does not belong to the region", [](KernelPlan &plan) {
        for (const ir::Block *block : plan.function.blocks)
            if (block->name == "end")
                plan.regions[1].blocks[block->id] = false;
    }));
    return test::status();
}
