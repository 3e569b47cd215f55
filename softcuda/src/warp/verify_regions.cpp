// verify_regions.cpp -- checks that every value that a region reads crosses the barriers before it.
#include "ir/print.h"
#include "warp/kernel_plan.h"
#include "warp/region_plan.h"
#include "warp/walk_warp.h"

#include <algorithm>

namespace softcuda::warp {

namespace {

constexpr std::uint32_t kRegionWalks = 8;

using ir::Block;
using ir::Opcode;

class RegionVerifier {
  public:
    explicit RegionVerifier(const KernelPlan &plan) : plan_(plan) {}

    std::vector<std::string> run() {
        for (std::size_t number = 1; number < plan_.regions.size(); ++number)
            check_start(plan_.regions[number]);
        for (const Region &region : plan_.regions) {
            for (const Fetch &fetch : region.fetches)
                check_fetch(region, fetch);
            check_ends(region);
            check_warps(region);
        }
        for (std::uint32_t seed = 1; plan_.has_regions() && seed <= kRegionWalks && wrong_.empty();
             ++seed)
            if (std::string found = walk_warp(plan_, seed); !found.empty())
                wrong_.push_back(std::move(found));
        return std::move(wrong_);
    }

  private:
    void require(bool holds, const Region &region, const std::string &what) {
        if (!holds)
            wrong_.push_back("region of " + region.entry->name + ": " + what);
    }

    // A value that an edge to a barrier sets is lost at the barrier, so a region does not start
    // with a phi.
    void check_start(const Region &region) {
        const std::vector<Block *> &before = region.entry->predecessors;
        require(before.size() == 1 && barrier_at_end(before.front()) == region.barrier, region,
                "does not start after its barrier");
        require(!region.entry->instructions.front()->is(Opcode::Phi), region, "starts with a phi");
    }

    void check_fetch(const Region &region, const Fetch &fetch) {
        const std::string name = ir::to_text(*fetch.value);
        const ir::Instruction *made = fetch.value->definition;
        require(made && made != region.barrier && !is_rematerialized(fetch.value) &&
                    !is_recomputed(plan_, fetch.value),
                region, "fetches " + name + ", which no region keeps");
        require(made && fetch.set == region.blocks[made->block->id], region,
                "sets " + name + ", but a region sets exactly the values that it defines");
        require(fetch.from != Fetch::From::Block ||
                    (plan_.lockstep.holds && plan_.lockstep.same[fetch.value->id] &&
                     plan_.divergence.of(fetch.value).uniform()),
                region,
                "fetches " + name + " for all warps, but its value may differ between warps");
        require(std::ranges::count(region.fetches, fetch.value, &Fetch::value) == 1, region,
                "fetches " + name + " twice");
    }

    void check_ends(const Region &region) {
        for (const Block *block : plan_.function.blocks) {
            const bool ends =
                plan_.has_regions() && region.blocks[block->id] && barrier_at_end(block);
            require(std::ranges::count(region.ends, block, &RegionEnd::block) == (ends ? 1 : 0),
                    region, "must end once at each of its barriers: " + block->name);
        }
        for (const RegionEnd &end : region.ends) {
            const Region &next = plan_.regions.at(end.region);
            require(barrier_at_end(end.block) == next.barrier, region,
                    "does not continue after the barrier of " + end.block->name);
            for (const ir::Value *value : end.keeps)
                require(std::ranges::count(next.fetches, value, &Fetch::value) == 1, region,
                        "keeps " + ir::to_text(*value) + ", which no region fetches");
        }
    }

    void check_warps(const Region &region) {
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - plan_.launch.warps());
        require((region.active_warps & all) != 0, region, "has no active warp");
        const bool special = (region.active_warps & all) != all || region.quiet || region.counted;
        require(!special || plan_.lockstep.holds, region,
                "is planned for warps in lockstep, but they are not in lockstep");
    }

    const KernelPlan &plan_;
    std::vector<std::string> wrong_;
};

} // namespace

std::vector<std::string> verify_regions(const KernelPlan &plan) {
    return RegionVerifier(plan).run();
}

} // namespace softcuda::warp
