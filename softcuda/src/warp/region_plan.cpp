// region_plan.cpp -- finds the starts of regions, and the values that are live across barriers.
#include "warp/region_plan.h"

#include "analysis/liveness.h"
#include "warp/kernel_plan.h"

#include <algorithm>
#include <cstddef>

namespace softcuda::warp {

namespace {

using ir::Block;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

std::vector<bool> blocks_of(const KernelPlan &plan, const Region &region) {
    std::vector<bool> found(plan.function.blocks.size(), false);
    std::vector<const Block *> left;
    auto reach = [&](const Block *block) {
        if (block && !found[block->id]) {
            found[block->id] = true;
            left.push_back(block);
        }
    };
    reach(region.entry);
    while (!left.empty()) {
        const Block *block = left.back();
        left.pop_back();
        const BlockFlow &flow = plan.masks.of(block);
        reach(flow.mask.skip_to);
        if (plan.has_regions() && barrier_at_end(block))
            continue;
        reach(flow.next);
        for (const Edge &edge : flow.edges)
            reach(edge.next);
    }
    return found;
}

/// The values and masks that are live at the start of each region.
struct LiveInto {
    std::vector<const Value *> values;
    std::vector<const Block *> masks;
};

class CrossingPlanner {
  public:
    explicit CrossingPlanner(KernelPlan &plan) : plan_(plan) {}

    void run() {
        find_live();
        for (std::size_t number = 1; number < plan_.regions.size(); ++number)
            plan_fetches(plan_.regions[number], live_[number]);
        for (Region &region : plan_.regions)
            for (const Block *block : plan_.function.blocks)
                if (region.blocks[block->id] && barrier_at_end(block))
                    region.ends.push_back(end_at(region, block));
    }

  private:
    /// A mask has the number of its owner, after the numbers of all values.
    std::uint32_t mask_id(const Block *owner) const {
        return plan_.function.value_count() + owner->id;
    }

    void find_live() {
        analysis::ExtraLiveness masks{.count =
                                          static_cast<std::uint32_t>(plan_.function.blocks.size()),
                                      .definitions = {},
                                      .uses = {}};
        std::vector<const Value *> values(plan_.function.value_count(), nullptr);
        for (const Block *block : plan_.function.blocks) {
            const BlockMask &mask = plan_.masks.of(block).mask;
            if (mask.from == BlockMask::From::Arrivals)
                masks.definitions.push_back({block, mask_id(block)});
            else if (mask.from == BlockMask::From::Owner)
                masks.uses.push_back({block, mask_id(mask.owner)});
            for (const Instruction *i : block->instructions)
                for (const Value *result : i->results)
                    values[result->id] = result;
        }
        std::vector<const Block *> entries;
        for (const Region &region : plan_.regions)
            entries.push_back(region.entry);
        for (const auto &ids : analysis::find_live_into(plan_.function, entries, masks)) {
            LiveInto &live = live_.emplace_back();
            for (std::uint32_t id : ids)
                if (id >= values.size())
                    live.masks.push_back(plan_.function.blocks[id - values.size()]);
                else if (values[id])
                    live.values.push_back(values[id]);
        }
    }

    /// False for the barrier's result, which exists only after all warps have arrived.
    bool is_handed_on(const Region &region, const Value *value) const {
        return value->definition != region.barrier && !is_rematerialized(value) &&
               !is_recomputed(plan_, value);
    }

    bool is_equal_in_all_warps(const Value *value) const {
        return plan_.lockstep.holds && plan_.lockstep.same[value->id] &&
               plan_.divergence.of(value).uniform();
    }

    void plan_fetches(Region &region, const LiveInto &live) {
        for (const Value *value : live.values)
            if (is_handed_on(region, value))
                region.fetches.push_back(
                    {.value = value,
                     .from = is_equal_in_all_warps(value) ? Fetch::From::Block : Fetch::From::Warp,
                     .set = region.blocks[value->definition->block->id]});
        region.masks = live.masks;
        region.arrives = plan_.masks.keeps_mask(region.entry);
    }

    RegionEnd end_at(const Region &region, const Block *block) const {
        RegionEnd end{.block = block, .region = 0, .keeps = {}, .masks = {}};
        const Block *behind = block->successors().front();
        for (std::size_t number = 1; number < plan_.regions.size(); ++number)
            if (plan_.regions[number].entry == behind)
                end.region = static_cast<unsigned>(number);
        const Region &next = plan_.regions[end.region];
        end.masks = next.masks;
        for (const Fetch &fetch : next.fetches) {
            const auto here = std::ranges::find(region.fetches, fetch.value, &Fetch::value);
            if (here == region.fetches.end() ||
                here->set) // otherwise it is already stored where it was loaded from
                end.keeps.push_back(fetch.value);
        }
        return end;
    }

    KernelPlan &plan_;
    std::vector<LiveInto> live_; ///< by region
};

} // namespace

bool is_rematerialized(const Value *value) {
    if (!value->definition)
        return false;
    switch (value->definition->opcode) {
    case Opcode::Special:
    case Opcode::SymbolAddress:
    case Opcode::LoadParam:
    case Opcode::ParamAddress:
    case Opcode::StackBase:
    case Opcode::Undef:
        return true;
    default:
        return false;
    }
}

bool is_recomputed(const KernelPlan &plan, const Value *value) {
    return plan.has_regions() && plan.coordinate_functions[value->id];
}

const Instruction *barrier_at_end(const Block *block) {
    const std::size_t count = block->instructions.size();
    if (count < 2 || !ir::is_block_barrier(*block->instructions[count - 2]))
        return nullptr;
    return block->instructions[count - 2];
}

// A block of one warp waits for no other warp, so its barriers do not end regions. choose_tier.cpp
// has checked that there are at most 63 barriers, all of them block-wide.
void find_regions(KernelPlan &plan) {
    plan.regions.assign(1, {});
    plan.regions.front().entry = plan.function.entry();
    if (plan.tier.tier != rt::Tier::Regions || plan.launch.warps() == 1)
        return;
    for (const Block *block : plan.function.blocks)
        if (const Instruction *barrier = barrier_at_end(block)) {
            Region &behind = plan.regions.emplace_back();
            behind.entry = block->successors().front();
            behind.barrier = barrier;
        }
}

void plan_crossings(KernelPlan &plan) {
    for (Region &region : plan.regions)
        region.blocks = blocks_of(plan, region);
    if (plan.has_regions())
        CrossingPlanner(plan).run();
}

} // namespace softcuda::warp
