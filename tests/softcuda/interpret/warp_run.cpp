// warp_run.cpp -- basic blocks, edges, masks and regions of one warp, as planned.
#include "interpret/warp_run.h"

#include "interpret/outcome.h"
#include "ir/exchange.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace softcuda::interpret {

using ir::Block;
using ir::Instruction;
using ir::Opcode;
using ir::Value;
using warp::BlockFlow;
using warp::BlockMask;
using warp::Edge;
using warp::Join;
using warp::KernelPlan;

CheckedPlan::CheckedPlan(const KernelPlan &of)
    : plan(&of), claims(of), partly_undefined(of.function.value_count(), false) {
    for (const BlockFlow &flow : of.masks.blocks)
        for (const Edge &edge : flow.edges)
            for (const Join &join : edge.joins)
                if (join.write == Join::Write::Keep)
                    partly_undefined[join.phi->id] = true;
}

void BlockValues::publish() {
    for (const auto &[id, value] : next)
        now[id] = value;
    next.clear();
}

WarpRun::WarpRun(const WarpProgram &program, const CheckedPlans &plans, Launch &launch,
                 BlockMemory &memory, BlockValues &shared, unsigned warp)
    : program_(program), plans_(plans), launch_(launch), memory_(memory), shared_(shared),
      warp_(warp), random_(warp) {
    for (unsigned lane = 0; lane < kLanes && warp * kLanes + lane < launch.threads(); ++lane)
        active_ |= std::uint32_t{1} << lane;
    start(plans.at(program.kernel), active_, 0);
}

void WarpRun::wrong(const std::string &what) {
    throw Stopped(Stop::Wrong, "basic block " + frame().block->name + ": " + what);
}

WarpMemory WarpRun::empty(const KernelPlan &plan, bool lost) const {
    const std::size_t blocks = plan.function.blocks.size();
    return {.values = {plan.function.value_count(), LaneValues{}},
            .lost = std::vector<bool>(plan.function.value_count(), lost),
            .masks = std::vector<std::optional<std::uint32_t>>(blocks),
            .arrivals = std::vector<std::uint32_t>(blocks, 0)};
}

void WarpRun::start(const CheckedPlan &checked, std::uint32_t active, std::uint64_t depth) {
    const KernelPlan &plan = *checked.plan;
    if (!plan.function.kernel && depth > plan.local_stride - plan.frame_bytes)
        throw Stopped(Stop::Faulted, "a stack overflow");
    const bool apart = !plan.lanes.places.empty();
    frames_.push_back({.checked = &checked,
                       .active = active,
                       .depth = depth,
                       .now = empty(plan, apart),
                       .kept = plan.has_regions() ? empty(plan, true) : WarpMemory{},
                       .here = {},
                       .results = {plan.function.returns.size(), LaneValues{}},
                       .positions = {}});
    if (!apart)
        return enter(plan.function.entry());
    frame().positions.emplace(plan.lanes, active, random_());
    next_place();
}

void WarpRun::run(std::uint64_t &left) {
    yields_ = false;
    while (status_ == Status::Ready && left != 0 && !yields_) {
        --left;
        step();
    }
}

void WarpRun::step() {
    Frame &f = frame();
    if (f.place && f.next == f.place->end)
        return wait_at_next_place();
    const Instruction &i = *f.block->instructions[f.next];
    if (ir::info(i.opcode).terminator)
        return f.place ? leave_place() : leave();
    if (i.is(Opcode::Call))
        return call(i);
    f.next++;
    if (i.is(Opcode::Phi))
        return;
    if (f.place && f.place->awaited() == &i && f.place->receives())
        return define(i, f.positions->received());
    if (ir::is_block_barrier(i))
        return f.place ? pass_barrier(i) : run_barrier(i);
    if (ir::is_exchange(i) || i.is(Opcode::ActiveMask))
        return run_exchange(i);
    run_own(i);
}

// ---- masks ----------------------------------------------------------------------------------

void WarpRun::enter(const Block *block) {
    Frame &f = frame();
    forget_here();
    const KernelPlan &plan = f.plan();
    while (block) {
        f.block = block;
        f.next = 0;
        const std::vector<bool> &known =
            plan.regions[f.plan().function.kernel ? region_ : 0].blocks;
        if (!known.empty() && !known[block->id])
            wrong("is none of the region's");
        for (const Block *waiting : plan.masks.of(block).starts)
            start_waiting(waiting);
        f.lanes = arrive(block);
        const BlockMask &mask = plan.masks.of(block).mask;
        if (!mask.guarded || f.lanes != 0)
            return check_phis(block);
        block = mask.skip_to;
    }
    finish();
}

void WarpRun::start_waiting(const Block *block) {
    Frame &f = frame();
    f.now.arrivals[block->id] = 0;
    for (const Instruction *i : block->instructions) {
        if (!i->is(Opcode::Phi))
            return;
        const std::uint32_t id = i->result()->id;
        if (!f.plan().masks.starts_zero[id])
            continue;
        f.now.values[id] = LaneValues{};
        f.now.lost[id] = false;
    }
}

std::uint32_t WarpRun::arrive(const Block *block) {
    Frame &f = frame();
    const BlockMask &mask = f.plan().masks.of(block).mask;
    switch (mask.from) {
    case BlockMask::From::Active:
        return f.active;
    case BlockMask::From::Known:
        return f.active & mask.lanes.at(warp_);
    case BlockMask::From::Owner:
        if (!f.now.masks[mask.owner->id])
            wrong("the mask of " + mask.owner->name + " is not there");
        return *f.now.masks[mask.owner->id];
    case BlockMask::From::Arrivals:
        break;
    }
    const std::uint32_t lanes = f.now.arrivals[block->id];
    f.now.masks[block->id] = lanes;
    if (!mask.lanes.empty() && lanes != (f.active & mask.lanes.at(warp_)))
        wrong("other lanes have come than were known");
    if (mask.clears)
        f.now.arrivals[block->id] = 0;
    return lanes;
}

/// Code keeps these values in registers, for this basic block or place only.
void WarpRun::forget_here() {
    Frame &f = frame();
    for (std::uint32_t id : f.here)
        f.now.lost[id] = true;
    f.here.clear();
}

void WarpRun::check_phis(const Block *block) {
    Frame &f = frame();
    for (const Instruction *i : block->instructions) {
        if (!i->is(Opcode::Phi))
            return;
        const Value *phi = i->result();
        if (f.lanes != 0 && !f.checked->partly_undefined[phi->id] && !f.now.lost[phi->id])
            f.checked->claims.check_value(phi, f.now.values[phi->id], here());
    }
}

/// The lanes that choose each successor.
std::vector<std::uint32_t> WarpRun::lanes_by_successor() {
    Frame &f = frame();
    const Instruction &end = *f.block->terminator();
    const LaneValues condition = read(end.operand(0));
    std::vector<std::uint32_t> lanes(end.blocks.size(), 0);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((f.lanes >> lane & 1) == 0)
            continue;
        std::uint64_t successor = condition[lane];
        if (end.is(Opcode::Branch))
            successor = (successor & 1) ^ 1;
        lanes[std::min<std::uint64_t>(successor, lanes.size() - 1)] |= std::uint32_t{1} << lane;
    }
    return lanes;
}

/// The successor of all lanes. Without active lanes, a base of the condition decides.
std::size_t WarpRun::common_successor() {
    Frame &f = frame();
    const Instruction &end = *f.block->terminator();
    if (end.blocks.size() == 1)
        return 0;
    const std::vector<std::uint32_t> lanes = lanes_by_successor();
    std::size_t chosen = lanes.size();
    for (std::size_t successor = 0; successor < lanes.size(); ++successor) {
        if (lanes[successor] == 0)
            continue;
        if (chosen != lanes.size())
            wrong("lanes part at a branch that the plan takes for all of them together");
        chosen = successor;
    }
    if (chosen != lanes.size())
        return chosen;
    const std::uint64_t base = read(end.operand(0))[0];
    return std::min<std::size_t>(end.is(Opcode::Branch) ? (base & 1) ^ 1 : base, lanes.size() - 1);
}

/// Of a basic block whose lanes may part: the lanes that take each edge, which they do here.
std::vector<std::uint32_t> WarpRun::take_edges(const BlockFlow &flow) {
    const std::vector<std::uint32_t> lanes =
        flow.parts ? lanes_by_successor() : std::vector<std::uint32_t>{frame().lanes};
    std::vector<std::uint32_t> taken;
    for (const Edge &edge : flow.edges) {
        taken.push_back(0);
        for (unsigned successor : edge.successors)
            taken.back() |= lanes.at(successor);
    }
    std::vector<Copies> copies; // all edges read before any of them writes
    for (std::size_t n = 0; n < flow.edges.size(); ++n)
        copies.push_back(read_edge(flow.edges[n], taken[n]));
    for (std::size_t n = 0; n < flow.edges.size(); ++n)
        take(flow.edges[n], taken[n], copies[n]);
    return taken;
}

void WarpRun::leave() {
    Frame &f = frame();
    const BlockFlow &flow = f.plan().masks.of(f.block);
    const Instruction &end = *f.block->terminator();
    if (end.blocks.empty()) {
        if (end.is(Opcode::Return))
            store_results(end);
        if (end.is(Opcode::Exit) && frames_.size() > 1 && f.lanes != 0)
            wrong("threads end in a called function whose lanes run together");
    } else if (flow.parts) {
        take_edges(flow);
    } else {
        return leave_together(flow);
    }
    enter(flow.next);
}

void WarpRun::leave_together(const BlockFlow &flow) {
    Frame &f = frame();
    const auto successor = static_cast<unsigned>(common_successor());
    const auto edge = std::ranges::find_if(flow.edges, [&](const Edge &candidate) {
        return flow.edges.size() == 1 || std::ranges::count(candidate.successors, successor) != 0;
    });
    if (edge == flow.edges.end())
        wrong("no edge leads to successor " + std::to_string(successor));
    take(*edge, f.lanes, read_edge(*edge, f.lanes));
    if (!f.plan().has_regions() || !warp::barrier_at_end(f.block))
        return enter(edge->next);
    const auto &ends = f.plan().regions[region_].ends;
    const auto found = std::ranges::find(ends, f.block, &warp::RegionEnd::block);
    if (found == ends.end())
        wrong("the region should not end here");
    keep(*found);
}

WarpRun::Copies WarpRun::read_edge(const Edge &edge, std::uint32_t lanes) {
    Frame &f = frame();
    Copies copies;
    for (const Join &join : edge.joins) {
        if (join.write == Join::Write::Keep)
            continue;
        LaneValues value = read(join.value);
        if (lanes != 0)
            f.checked->claims.check_value(join.phi, value, {lanes, warp_});
        copies.emplace_back(&join, value);
    }
    return copies;
}

void WarpRun::take(const Edge &edge, std::uint32_t lanes, const Copies &copies) {
    Frame &f = frame();
    for (const Join &join : edge.joins) // undefined values are not removed
        if (join.write == Join::Write::Keep)
            f.now.lost[join.phi->id] = false;
    for (const auto &[join, value] : copies) {
        LaneValues &phi = f.now.values[join->phi->id];
        f.now.lost[join->phi->id] = false;
        const std::uint32_t written = join->write == Join::Write::Set ? ~std::uint32_t{0} : lanes;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            if ((written >> lane & 1) != 0)
                phi[lane] = value[lane];
    }
    if (edge.arrive == Edge::Arrive::Add)
        f.now.arrivals[edge.to->id] |= lanes;
    else if (edge.arrive == Edge::Arrive::Set)
        f.now.arrivals[edge.to->id] = lanes;
}

/// All lanes are at the end of the function. Its caller continues without the ended ones.
void WarpRun::finish() {
    if (frames_.size() == 1) {
        status_ = Status::Ended;
        return;
    }
    std::vector<LaneValues> results = std::move(frame().results);
    const std::uint32_t ended = frame().ended;
    frames_.pop_back();
    Frame &caller = frame();
    if (ended != 0 && !caller.place)
        wrong("threads end in a called function, but the caller's lanes run together");
    caller.ended |= ended;
    caller.lanes &= ~ended;
    const Instruction &i = *caller.block->instructions[caller.next++];
    if (ended != 0 && caller.lanes == 0)
        return next_place();
    results.resize(i.results.size());
    define(i, std::move(results));
}

// ---- regions --------------------------------------------------------------------------------

void WarpRun::keep(const warp::RegionEnd &end) {
    Frame &f = frame();
    const warp::Region &next = f.plan().regions[end.region];
    for (const warp::Fetch &fetch : next.fetches) {
        if (std::ranges::count(end.keeps, fetch.value) == 0)
            continue;
        const std::uint32_t id = fetch.value->id;
        const LaneValues value = read(fetch.value);
        if (fetch.from == warp::Fetch::From::Block) {
            const auto [stored, first] = shared_.next.emplace(id, value);
            if (!first && stored->second[0] != value[0])
                wrong(ir::to_text(*fetch.value) + " is stored once for the block, but differs "
                                                  "between its warps");
            continue;
        }
        f.kept.values[id] = value;
        f.kept.lost[id] = false;
    }
    for (const Block *owner : end.masks)
        f.kept.masks[owner->id] = f.now.masks[owner->id];
    if (next.arrives)
        f.kept.arrivals[next.entry->id] = f.now.arrivals[next.entry->id];
    region_ = end.region;
    barrier_ = next.barrier;
    status_ = Status::AtBarrier;
}

void WarpRun::enter_region() {
    Frame &f = frame();
    const warp::Region &region = f.plan().regions[region_];
    f.now = empty(f.plan(), true);
    for (const warp::Fetch &fetch : region.fetches) {
        const std::uint32_t id = fetch.value->id;
        if (fetch.from == warp::Fetch::From::Warp) {
            f.now.values[id] = f.kept.values[id];
            f.now.lost[id] = f.kept.lost[id];
        } else if (const auto found = shared_.now.find(id); found != shared_.now.end()) {
            f.now.values[id] = found->second;
            f.now.lost[id] = false;
        }
    }
    for (const Block *owner : region.masks)
        f.now.masks[owner->id] = f.kept.masks[owner->id];
    if (region.arrives)
        f.now.arrivals[region.entry->id] = f.kept.arrivals[region.entry->id];
}

void WarpRun::follow(const WarpRun &other) {
    status_ = other.status_;
    region_ = other.region_;
    barrier_ = other.barrier_;
}

void WarpRun::pass(const Barriers::Passed &passed) {
    const Instruction &barrier = *barrier_;
    const bool regions = frame().plan().has_regions();
    status_ = Status::Ready;
    if (frame().positions)
        frame().positions->passed = passed;
    if (regions)
        enter_region();
    if (!barrier.results.empty()) {
        LaneValues result{};
        result.fill(Barriers::result(barrier, passed));
        define(barrier, {result});
    }
    if (regions)
        enter(frame().plan().regions[region_].entry);
}

} // namespace softcuda::interpret
