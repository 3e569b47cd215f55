// plan_functions.cpp -- plans again what other plans show to be different.
#include "compiler/plan_functions.h"

#include "warp/find_apart.h"

#include <algorithm>
#include <vector>

namespace softcuda::compiler {

namespace {

using warp::TierRequest;

void plan_all(PlannedKernel &made, std::span<const warp::Callee> callees,
              const TierRequest &request, std::span<const std::uint32_t> apart,
              const MakePlan &make) {
    made.plan = make(*made.functions.front(), request, {});
    made.callees.clear();
    TierRequest asked = request;
    asked.wanted = {};
    asked.cooperative = false;
    for (const warp::Callee &callee : callees) {
        asked.lanes_outside = std::ranges::find(apart, callee.symbol) != apart.end();
        made.callees.push_back(
            {callee.symbol, make(*callee.function, asked, made.plan->local_stride)});
    }
}

std::vector<std::uint32_t> find_apart(const PlannedKernel &made) {
    std::vector<warp::CalledPlan> called;
    for (const codegen::CalleePlan &callee : made.callees)
        called.push_back({callee.symbol, callee.plan.get()});
    return warp::find_apart(*made.plan, called);
}

} // namespace

void plan_functions(PlannedKernel &made, std::span<const warp::Callee> callees,
                    const TierRequest &request, const MakePlan &make) {
    TierRequest asked = request;
    asked.ending = warp::find_ending(callees);
    asked.signalling = warp::find_signalling(callees);
    asked.exchanging = warp::find_exchanging(callees);
    plan_all(made, callees, asked, {}, make);
    const std::vector<std::uint32_t> apart = find_apart(made);
    if (!apart.empty())
        plan_all(made, callees, asked, apart, make);
    asked.calls_apart = std::ranges::any_of(made.callees, [](const codegen::CalleePlan &callee) {
        return callee.plan->tier.lanes_wait;
    });
    if (asked.calls_apart)
        plan_all(made, callees, asked, apart, make);
}

} // namespace softcuda::compiler
