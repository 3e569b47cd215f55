// lane_plan_test.cpp -- tests that verify_lanes() finds errors in the places of lanes, and that the
// interpreter finds errors in the values between them.
#include "spoil_plan.h"

#include "interpret/run_warps.h"

#include <cstring>
#include <string>

namespace {

using namespace softcuda;
using warp::KernelPlan;
using warp::Place;

// Lanes 0 to 9 and the others take different paths to a barrier of the warp, then store numbers.
constexpr const char *kKernel = R"(kernel k {
  .parameters 0:8:8 8:4:4 bytes 12
entry:
  %0 = special.tid.x
  %1 = load_param.u64 [0]
  %2 = load_param.u32 [8]
  %3 = cmp.lt.u32 %0, %2
  %4 = mul_wide.u32 %0, i32 4
  %5 = add.u64 %1, %4
  %6 = load.global.u32 [%5]
  branch %3, low, high
low:
  %7 = mul.u32 %6, i32 3
  warp_barrier i32 -1
  %8 = add.u32 %7, i32 1
  jump end
high:
  warp_barrier i32 -1
  %9 = add.u32 %6, i32 2
  jump end
end:
  %10:i32 = phi [%8, low], [%9, high]
  store.global.u32 [%5], %10
  exit
}
)";

constexpr std::uint64_t kBuffer = 0x10000;
constexpr std::uint32_t kThreads = 32, kFew = 10;

std::vector<std::string> run(const KernelPlan &plan) {
    interpret::Launch launch{.block = {kThreads, 1, 1},
                             .parameters = std::vector<std::byte>(12),
                             .symbols = {},
                             .workspace = 0,
                             .memory = {}};
    std::memcpy(launch.parameters.data(), &kBuffer, 8);
    std::memcpy(launch.parameters.data() + 8, &kFew, 4);
    std::vector<std::byte> bytes(kThreads * 4);
    for (std::uint32_t t = 0; t < kThreads; ++t)
        std::memcpy(&bytes[std::size_t{t} * 4], &t, 4);
    launch.memory.add(kBuffer, bytes);
    const interpret::Outcome outcome =
        interpret::run_warps({.kernel = &plan, .functions = {}}, launch);
    if (outcome.kind != interpret::Outcome::Kind::Ran)
        return {outcome.what};
    for (std::uint32_t t = 0; t < kThreads; ++t) {
        std::uint32_t found = 0;
        std::memcpy(&found, &launch.memory.ranges().at(kBuffer)[std::size_t{t} * 4], 4);
        if (found != (t < kFew ? 3 * t + 1 : t + 2))
            return {"thread " + std::to_string(t) + " leaves another number"};
    }
    return {};
}

std::string wrong_after(test::Verify verify, const test::Spoil &spoil) {
    return test::wrong_after(kKernel, {.block = {kThreads, 1, 1}}, verify, spoil);
}

bool finds(const char *what, const test::Spoil &spoil) {
    return test::finds(what, wrong_after(warp::verify_lanes, spoil));
}

bool finds_in_run(const char *what, const test::Spoil &spoil) {
    return test::finds(what, wrong_after(run, spoil));
}

/// The first place at which lanes wait.
Place &waiting(KernelPlan &plan) {
    for (Place &place : plan.lanes.places)
        if (place.awaited())
            return place;
    std::abort();
}

const ir::Value *result_of(const KernelPlan &plan, const std::string &block) {
    for (const ir::Block *candidate : plan.function.blocks)
        if (candidate->name == block)
            return candidate->instructions.front()->result();
    std::abort();
}

} // namespace

int main() {
    CHECK(wrong_after(warp::verify_lanes, [](KernelPlan &) {}).empty());
    CHECK(finds("belong to no basic block",
                [](KernelPlan &plan) { plan.lanes.places.push_back(plan.lanes.places.front()); }));
    CHECK(finds("is not the entry of", [](KernelPlan &plan) { plan.lanes.of_block.back() += 1; }));
    CHECK(finds("omits instructions", [](KernelPlan &plan) { ++waiting(plan).first; }));
    CHECK(finds("does not end with its terminator",
                [](KernelPlan &plan) { --plan.lanes.places.back().end; }));
    CHECK(finds("does not wait at an exchange",
                [](KernelPlan &plan) { waiting(plan).kind = rt::PlaceKind::Plain; }));
    CHECK(finds("has nothing to wait for",
                [](KernelPlan &plan) { plan.lanes.places.front().kind = rt::PlaceKind::Members; }));
    CHECK(finds("has another kind",
                [](KernelPlan &plan) { waiting(plan).kind = rt::PlaceKind::Barrier; }));
    CHECK(finds("names another value", [](KernelPlan &plan) { waiting(plan).named = nullptr; }));
    CHECK(finds("has another exchange",
                [](KernelPlan &plan) { waiting(plan).exchange = rt::Exchange::Elect; }));
    CHECK(finds("without a next place",
                [](KernelPlan &plan) { plan.lanes.places.front().next.pop_back(); }));
    CHECK(finds("has no edge to high",
                [](KernelPlan &plan) { plan.lanes.places.front().next[1] = 0; }));

    CHECK(wrong_after(run, [](KernelPlan &) {}).empty());
    CHECK(finds_in_run("leaves another number", [](KernelPlan &plan) {
        for (warp::BlockFlow &flow : plan.masks.blocks)
            for (warp::Edge &edge : flow.edges)
                for (warp::Join &join : edge.joins)
                    join.write = warp::Join::Write::Set;
    }));
    CHECK(finds_in_run("which was not kept", [](KernelPlan &plan) {
        plan.outlives_block[result_of(plan, "low")->id] = false;
    }));
    CHECK(finds_in_run("wait for each other",
                       [](KernelPlan &plan) { waiting(plan).exchange = rt::Exchange::VoteAll; }));
    return test::status();
}
