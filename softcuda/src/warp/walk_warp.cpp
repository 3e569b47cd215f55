// walk_warp.cpp -- simulates one warp with a plan, and the correct values of each lane.
//
// Each definition is a number: the step of the warp in which it was executed. The warp stores a
// value in one place, in which a definition replaces the numbers of all lanes or, if the plan
// blends, those of some lanes. A lane remembers the number of the last definition that it executed
// itself. Both must be equal wherever the lane uses the value. Values that are equal in several
// lanes for other reasons (analysis/shape.h) only have to exist.
#include "warp/walk_warp.h"

#include "warp/kernel_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <vector>

namespace softcuda::warp {

namespace {

using analysis::kLanes;
using ir::Block;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

constexpr std::size_t kMostInstructions = 1 << 15; ///< a warp may stay in a loop for long
constexpr std::uint32_t kUndefined = ~std::uint32_t{0};
constexpr std::uint32_t kLost = kUndefined - 1; ///< of an earlier region, and not loaded

using LaneSteps = std::array<std::uint32_t, kLanes>; ///< by lane

/// The state that a warp loses at a barrier.
struct Memory {
    std::vector<LaneSteps> values;                   ///< by Value::id
    std::vector<std::optional<std::uint32_t>> masks; ///< by Block::id
    std::vector<std::uint32_t> arrivals;             ///< by Block::id
};

template <typename Body> void for_lanes(std::uint32_t lanes, Body body) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if ((lanes >> lane & 1) != 0)
            body(lane);
}

class WarpWalk {
  public:
    WarpWalk(const KernelPlan &plan, std::uint32_t seed)
        : plan_(plan), random_(seed), warp_(random_() % plan.launch.warps()),
          wanted_(plan.function.value_count(), all(kUndefined)), now_(empty(kUndefined)),
          kept_(empty(kLost)) {
        const std::uint32_t before = warp_ * kLanes;
        for (unsigned lane = 0; lane < kLanes && before + lane < plan.launch.threads(); ++lane)
            active_ |= std::uint32_t{1} << lane;
        for_lanes(active_, [&](unsigned lane) { stands_at_[lane] = plan.function.entry(); });
    }

    std::string run() {
        const Block *at = plan_.function.entry();
        while (at && wrong_.empty()) {
            ++step_;
            ran_ += at->instructions.size();
            if (ran_ > kMostInstructions)
                return {};
            at = visit(at);
        }
        for_lanes(active_, [&](unsigned lane) {
            if (stands_at_[lane])
                fail(stands_at_[lane], "a lane never leaves this basic block");
        });
        return wrong_;
    }

  private:
    static LaneSteps all(std::uint32_t step) {
        LaneSteps steps{};
        steps.fill(step);
        return steps;
    }

    [[nodiscard]] Memory empty(std::uint32_t step) const {
        const std::size_t blocks = plan_.function.blocks.size();
        return {.values = {plan_.function.value_count(), all(step)},
                .masks = std::vector<std::optional<std::uint32_t>>(blocks),
                .arrivals = std::vector<std::uint32_t>(blocks, 0)};
    }

    void fail(const Block *block, const std::string &what) {
        if (wrong_.empty())
            wrong_ = "basic block " + block->name + ": " + what;
    }

    /// The next block of the warp; null: it ends.
    const Block *visit(const Block *block) {
        const BlockFlow &flow = plan_.masks.of(block);
        const std::vector<bool> &known = plan_.regions[region_].blocks;
        if (!known.empty() && !known[block->id])
            fail(block, "does not belong to the region");
        for (const Block *waiting : flow.starts)
            start(waiting);
        const std::uint32_t lanes = arrive(block);
        if (flow.mask.guarded && lanes == 0)
            return flow.mask.skip_to;
        // Lanes that end need not all reach the block in which they end.
        for (unsigned lane = 0; lane < kLanes && !transform::only_exits(block); ++lane)
            if ((stands_at_[lane] == block) != ((lanes >> lane & 1) != 0))
                fail(block, "lane " + std::to_string(lane) +
                                (stands_at_[lane] == block ? " is not active"
                                                           : " is active, but did not arrive"));
        for (const Instruction *i : block->instructions) {
            if (i->is(Opcode::Phi))
                continue;
            for (const Value *operand : i->operands)
                use(operand, lanes, *i);
            for (const Value *result : i->results)
                define(result, lanes, ~std::uint32_t{0});
        }
        return leave(block, flow, lanes);
    }

    void start(const Block *block) {
        now_.arrivals[block->id] = 0;
        for (const Instruction *i : block->instructions)
            if (!i->is(Opcode::Phi))
                return;
            else if (plan_.masks.starts_zero[i->result()->id])
                now_.values[i->result()->id] = all(kUndefined);
    }

    std::uint32_t arrive(const Block *block) {
        const BlockMask &mask = plan_.masks.of(block).mask;
        switch (mask.from) {
        case BlockMask::From::Active:
            return active_;
        case BlockMask::From::Known:
            return active_ & mask.lanes.at(warp_);
        case BlockMask::From::Owner:
            if (!now_.masks[mask.owner->id])
                fail(block, "the mask of " + mask.owner->name + " does not exist");
            return now_.masks[mask.owner->id].value_or(0);
        case BlockMask::From::Arrivals:
            break;
        }
        const std::uint32_t lanes = now_.arrivals[block->id];
        now_.masks[block->id] = lanes;
        if (!mask.lanes.empty() && lanes != (active_ & mask.lanes.at(warp_)))
            fail(block, "the lanes that arrived differ from the known lanes");
        if (mask.clears)
            now_.arrivals[block->id] = 0;
        return lanes;
    }

    const Block *leave(const Block *block, const BlockFlow &flow, std::uint32_t lanes) {
        const std::size_t count = block->successors().size();
        if (count == 0) {
            for_lanes(lanes, [&](unsigned lane) { stands_at_[lane] = nullptr; });
            return flow.next;
        }
        if (!flow.parts) {
            const Edge &edge = flow.edges.at(random_() % flow.edges.size());
            read(edge, lanes);
            pass(edge, lanes);
            if (!plan_.has_regions() || !barrier_at_end(block))
                return edge.next;
            cross(block);
            return edge.to;
        }
        std::vector<std::uint32_t> chosen(count, 0);
        const LanesByWarp *known = known_lanes(block);
        for_lanes(lanes, [&](unsigned lane) {
            const std::size_t way = known ? ((*known)[warp_] >> lane & 1) ^ 1 : random_() % count;
            chosen[way] |= std::uint32_t{1} << lane;
            stands_at_[lane] = nullptr; // unless an edge moves the lane on
        });
        std::vector<std::uint32_t> taken;
        for (const Edge &edge : flow.edges) {
            taken.push_back(0);
            for (unsigned i : edge.successors)
                taken.back() |= chosen[i];
            read(edge, taken.back());
        }
        for (std::size_t i = 0; i < flow.edges.size(); ++i)
            pass(flow.edges[i], taken[i]);
        return flow.next;
    }

    /// Enters the region after a barrier, if the plan of crossings exists.
    void cross(const Block *block) {
        const Region &region = plan_.regions[region_];
        if (region.blocks.empty())
            return;
        const auto end = std::ranges::find(region.ends, block, &RegionEnd::block);
        if (end == region.ends.end()) {
            fail(block, "the region must not end here");
            return;
        }
        region_ = end->region;
        const Region &next = plan_.regions[region_];
        for (const Value *value : end->keeps)
            kept_.values[value->id] = now_.values[value->id];
        for (const Block *owner : end->masks)
            kept_.masks[owner->id] = now_.masks[owner->id];
        if (next.arrives)
            kept_.arrivals[next.entry->id] = now_.arrivals[next.entry->id];
        now_ = empty(kLost);
        for (const Fetch &fetch : next.fetches)
            now_.values[fetch.value->id] = kept_.values[fetch.value->id];
        for (const Block *owner : next.masks)
            now_.masks[owner->id] = kept_.masks[owner->id];
        if (next.arrives)
            now_.arrivals[next.entry->id] = kept_.arrivals[next.entry->id];
        for (const Value *result : next.barrier->results)
            now_.values[result->id] = wanted_[result->id];
    }

    const LanesByWarp *known_lanes(const Block *block) const {
        const Instruction &end = *block->terminator();
        const auto found = end.is(Opcode::Branch) ? plan_.masks.known.find(end.operand(0))
                                                  : plan_.masks.known.end();
        return found == plan_.masks.known.end() ? nullptr : &found->second;
    }

    void read(const Edge &edge, std::uint32_t lanes) {
        for (const Join &join : edge.joins)
            if (join.write != Join::Write::Keep)
                use(join.value, lanes, *join.phi->definition);
    }

    void pass(const Edge &edge, std::uint32_t lanes) {
        for_lanes(lanes, [&](unsigned lane) { stands_at_[lane] = edge.to; });
        for (const Join &join : edge.joins) {
            if (join.write == Join::Write::Keep)
                leave_undefined(join.phi, lanes);
            else
                define(join.phi, lanes, join.write == Join::Write::Set ? ~std::uint32_t{0} : lanes);
        }
        if (edge.arrive == Edge::Arrive::Add)
            now_.arrivals[edge.to->id] |= lanes;
        else if (edge.arrive == Edge::Arrive::Set)
            now_.arrivals[edge.to->id] = lanes;
    }

    /// The lanes execute a definition, which changes the value in the lanes `written`.
    void define(const Value *value, std::uint32_t lanes, std::uint32_t written) {
        for_lanes(written, [&](unsigned lane) { now_.values[value->id][lane] = step_; });
        for_lanes(lanes, [&](unsigned lane) { wanted_[value->id][lane] = step_; });
    }

    /// Writes nothing. The lanes may read the present value, also after a barrier.
    void leave_undefined(const Value *phi, std::uint32_t lanes) {
        for_lanes(lanes, [&](unsigned lane) {
            wanted_[phi->id][lane] = kUndefined;
            if (now_.values[phi->id][lane] == kLost)
                now_.values[phi->id][lane] = kUndefined;
        });
    }

    void use(const Value *value, std::uint32_t lanes, const Instruction &by) {
        if (value->constant || is_rematerialized(value) || is_recomputed(plan_, value))
            return;
        const LaneSteps &held = now_.values[value->id];
        const bool own = plan_.divergence.of(value).divergent();
        for_lanes(lanes, [&](unsigned lane) {
            const std::uint32_t wanted = wanted_[value->id][lane];
            if (held[lane] == kLost)
                fail(by.block, "lane " + std::to_string(lane) + " reads %" +
                                   std::to_string(value->id) + ", which the region does not fetch");
            else if (own && wanted != kUndefined && held[lane] != wanted)
                fail(by.block, "lane " + std::to_string(lane) + " reads %" +
                                   std::to_string(value->id) +
                                   ", whose value is that of another path");
        });
    }

    const KernelPlan &plan_;
    std::mt19937 random_;
    std::uint32_t warp_, active_ = 0, step_ = 0;
    std::size_t ran_ = 0; ///< number of executed instructions
    unsigned region_ = 0;
    std::array<const Block *, kLanes> stands_at_{}; ///< the next block of each lane
    std::vector<LaneSteps> wanted_;                 ///< by Value::id
    Memory now_, kept_;
    std::string wrong_;
};

} // namespace

std::string walk_warp(const KernelPlan &plan, std::uint32_t seed) {
    return WarpWalk(plan, seed).run();
}

} // namespace softcuda::warp
