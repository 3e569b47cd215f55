// warp_values.cpp -- executes instructions for the lanes of a warp.
#include "interpret/outcome.h"
#include "interpret/thread_operation.h"
#include "interpret/warp_run.h"
#include "ir/exchange.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace softcuda::interpret {

using ir::Instruction;
using ir::Opcode;
using ir::Value;

namespace {

constexpr std::uint32_t kAllLanes = ~std::uint32_t{0};
constexpr unsigned kPreemptions = 4; ///< a warp gives way at one preemption point of so many

bool accesses_memory(const Instruction &i) {
    return i.is(Opcode::Load) || i.is(Opcode::Store) || i.is(Opcode::Atomic) ||
           i.is(Opcode::Reduce);
}

} // namespace

LaneValues WarpRun::read(const Value *value) {
    if (value->constant) {
        LaneValues all{};
        all.fill(value->bits);
        return all;
    }
    Frame &f = frame();
    if (warp::is_rematerialized(value) || warp::is_recomputed(f.plan(), value))
        return compute_again(value);
    if (f.now.lost[value->id] && f.lanes != 0)
        wrong("reads " + ir::to_text(*value) + ", which was not kept for it");
    return f.now.values[value->id];
}

/// Values that are computed again at each use: all lanes, active or not.
LaneValues WarpRun::compute_again(const Value *value) {
    Frame &f = frame();
    const Instruction &i = *value->definition;
    std::vector<LaneValues> operands;
    for (const Value *operand : i.operands)
        operands.push_back(read(operand));
    LaneValues made{};
    std::vector<std::uint64_t> in(operands.size()), out(i.results.size());
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        Thread thread{launch_, memory_, warp_ * kLanes + lane};
        for (std::size_t n = 0; n < in.size(); ++n)
            in[n] = operands[n][lane];
        execute(i, thread, f.depth, f.plan().frame_bytes, in, out);
        made[lane] = cut(out[value->index], value->type);
    }
    f.checked->claims.check_value(value, made, here());
    return made;
}

void WarpRun::define(const Instruction &i, std::vector<LaneValues> results) {
    Frame &f = frame();
    for (std::size_t n = 0; n < i.results.size(); ++n) {
        const Value *result = i.result(n);
        for (std::uint64_t &lane : results[n])
            lane = cut(lane, result->type);
        f.checked->claims.check_value(result, results[n], here());
        // Lanes at other places may have other values.
        const bool blends = f.place && f.plan().divergence.of(result).divergent();
        for_lanes(blends ? f.lanes : kAllLanes,
                  [&](unsigned lane) { f.now.values[result->id][lane] = results[n][lane]; });
        f.now.lost[result->id] = false;
        if (!f.plan().outlives_block[result->id])
            f.here.push_back(result->id);
    }
}

/// Computes in all lanes, as code does; accesses memory in the active ones.
void WarpRun::run_own(const Instruction &i) {
    Frame &f = frame();
    if (!is_own_operation(i))
        refuse(i);
    if (i.is(Opcode::Trap) && f.lanes == 0)
        return;
    std::vector<LaneValues> operands;
    for (const Value *operand : i.operands)
        operands.push_back(read(operand));
    const bool access = accesses_memory(i);
    const bool allocates = i.is(Opcode::Alloca);
    if (access && f.lanes != 0)
        f.checked->claims.check_access(i, operands[0], here(),
                                       [&](const Value *value) { return read(value); });
    std::vector<LaneValues> results(i.results.size(), LaneValues{});
    std::vector<std::uint64_t> in(operands.size()), out(i.results.size());
    for_lanes(access || allocates ? f.lanes : kAllLanes, [&](unsigned lane) {
        Thread thread{launch_, memory_, warp_ * kLanes + lane};
        for (std::size_t n = 0; n < in.size(); ++n)
            in[n] = operands[n][lane];
        execute(i, thread, f.depth, f.plan().frame_bytes, in, out);
        for (std::size_t n = 0; n < out.size(); ++n)
            results[n][lane] = out[n];
        if (allocates)
            f.taken = std::max(f.taken, out[1]);
    });
    define(i, std::move(results));
    // Only sometimes, because warps may block each other if they always yield.
    yields_ = f.plan().waits.preemption_points.contains(&i) && random_() % kPreemptions == 0;
}

/// The arrived lanes exchange values with the members of their masks, in groups of equal masks. A
/// lane that does not name itself is in its group all the same.
void WarpRun::run_exchange(const Instruction &i) {
    Frame &f = frame();
    LaneValues active{};
    active.fill(f.lanes);
    if (i.is(Opcode::ActiveMask))
        return define(i, {active});
    const Value *named = ir::members_of(i);
    if (!named)
        refuse(i);
    std::vector<LaneValues> operands, results(i.results.size(), LaneValues{});
    for (const Value *operand : i.operands)
        operands.push_back(read(operand));
    const LaneValues members = read(named);
    std::uint32_t left = f.lanes;
    while (left != 0) {
        const auto first = static_cast<unsigned>(std::countr_zero(left));
        std::uint32_t group = 0;
        for_lanes(left, [&](unsigned lane) {
            if (members[lane] == members[first])
                group |= std::uint32_t{1} << lane;
        });
        const std::vector<LaneValues> made = exchange(i, operands, group);
        for_lanes(group, [&](unsigned lane) {
            for (std::size_t n = 0; n < results.size(); ++n)
                results[n][lane] = made[n][lane];
        });
        left &= ~group;
    }
    define(i, std::move(results));
}

void WarpRun::run_barrier(const Instruction &i) {
    Frame &f = frame();
    const bool reduces = i.is(Opcode::BarrierReduce);
    std::uint32_t votes = 0;
    if (reduces) {
        const LaneValues said = read(i.operand(0));
        for_lanes(f.lanes, [&](unsigned lane) {
            votes |= static_cast<std::uint32_t>(said[lane] & 1) << lane;
        });
    }
    const auto first = f.lanes == 0 ? 0u : static_cast<unsigned>(std::countr_zero(f.lanes));
    const Value *threads = ir::barrier_threads(i);
    arrival_ = {.number = static_cast<std::uint32_t>(read(ir::barrier_number(i))[first]),
                .threads = threads ? static_cast<std::uint32_t>(read(threads)[first]) : 0,
                .warp = warp_,
                .lanes = active_,
                .voters = reduces ? f.lanes : 0,
                .votes = votes};
    if (program_.kernel->tier.tier != rt::Tier::Regions) {
        barrier_ = &i;
        status_ = Status::AtBarrier; // run_warps.cpp lets an arrival go on at once
        return;
    }
    if (program_.kernel->has_regions()) // the warp waits at the region's end
        return;
    if (program_.kernel->launch.warps() > 1)
        wrong("a barrier of several warps is not the end of a region");
    if (reduces) {
        LaneValues result{};
        result.fill(Barriers::result(i, {.voters = static_cast<unsigned>(std::popcount(f.lanes)),
                                         .yes = static_cast<unsigned>(std::popcount(votes))}));
        define(i, {result});
    }
}

void WarpRun::call(const Instruction &i) {
    Frame &f = frame();
    const auto callee = program_.functions.find(i.attributes.symbol);
    if (callee == program_.functions.end())
        wrong("calls a function that has no plan");
    if (f.lanes == 0) {
        f.next++;
        return;
    }
    const CheckedPlan &checked = plans_.at(callee->second);
    std::vector<LaneValues> arguments;
    for (const Value *argument : i.operands)
        arguments.push_back(read(argument));
    const std::uint64_t depth = std::max(f.depth + f.plan().frame_bytes, (f.taken + 15) / 16 * 16);
    start(checked, f.lanes, depth); // which makes `f` invalid
    const std::vector<Value *> &taken = checked.plan->function.arguments;
    for (std::size_t n = 0; n < arguments.size() && n < taken.size(); ++n) {
        checked.claims.check_value(taken[n], arguments[n], here());
        frame().now.values[taken[n]->id] = arguments[n];
        frame().now.lost[taken[n]->id] = false;
    }
}

/// Lanes may return from several places, one after the other.
void WarpRun::store_results(const Instruction &end) {
    Frame &f = frame();
    if (f.plan().function.kernel)
        return;
    for (std::size_t n = 0; n < end.operands.size(); ++n) {
        const LaneValues value = read(end.operand(n));
        for_lanes(f.lanes, [&](unsigned lane) { f.results.at(n)[lane] = value[lane]; });
    }
}

} // namespace softcuda::interpret
