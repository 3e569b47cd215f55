// print_regions.cpp -- prints regions and the values that cross the barriers between them.
#include "ir/print.h"
#include "warp/kernel_plan.h"
#include "warp/print_plan.h"
#include "warp/region_plan.h"

namespace softcuda::warp {

namespace {

std::string title(const KernelPlan &plan, std::size_t number) {
    const Region &region = plan.regions[number];
    std::string out = "region " + std::to_string(number) + ": " + region.entry->name;
    return region.barrier ? out + " after " + region.barrier->block->name : out;
}

std::string masks_text(const std::vector<const ir::Block *> &owners) {
    std::string out;
    for (const ir::Block *owner : owners)
        out += ", mask of " + owner->name;
    return out;
}

std::string warps_text(const KernelPlan &plan, const Region &region) {
    std::string out;
    for (unsigned warp = 0; warp < plan.launch.warps(); ++warp)
        if ((region.active_warps >> warp & 1) != 0)
            out += ' ' + std::to_string(warp);
    return out;
}

} // namespace

std::string print_regions(const KernelPlan &plan) {
    std::string out;
    for (std::size_t number = 0; number < plan.regions.size(); ++number)
        out += title(plan, number) + "\n";
    return out;
}

std::string print_crossings(const KernelPlan &plan) {
    std::string out;
    for (std::size_t number = 0; number < plan.regions.size(); ++number) {
        const Region &region = plan.regions[number];
        out += title(plan, number) + "\n";
        for (const Fetch &fetch : region.fetches)
            out += "  fetch " + ir::to_text(*fetch.value) +
                   (fetch.from == Fetch::From::Block ? " for the block" : "") +
                   (fetch.set ? " and set it" : "") + "\n";
        for (const ir::Block *owner : region.masks)
            out += "  fetch mask of " + owner->name + "\n";
        out += region.arrives ? "  fetch arrivals\n" : "";
        for (const RegionEnd &end : region.ends) {
            out += "  " + end.block->name + " ends: to region " + std::to_string(end.region);
            for (std::size_t i = 0; i < end.keeps.size(); ++i)
                out += (i == 0 ? ", keep " : " ") + ir::to_text(*end.keeps[i]);
            out += masks_text(end.masks) + "\n";
        }
    }
    return out;
}

std::string print_active_warps(const KernelPlan &plan) {
    std::string out;
    for (std::size_t number = 0; number < plan.regions.size(); ++number)
        out += title(plan, number) + ": warps" + warps_text(plan, plan.regions[number]) +
               (plan.regions[number].quiet ? ", quiet\n" : "\n");
    return out;
}

std::string print_race_free(const KernelPlan &plan) {
    std::string out;
    for (std::size_t number = 0; number < plan.regions.size(); ++number)
        out += title(plan, number) + (plan.regions[number].race_free ? ": race-free\n" : "\n");
    return out;
}

std::string print_warp_order(const KernelPlan &plan) {
    std::string out;
    for (std::size_t number = 0; number < plan.regions.size(); ++number)
        out += title(plan, number) + (plan.regions[number].descending ? ": descending\n" : "\n");
    return out;
}

std::string print_counted(const KernelPlan &plan) {
    std::string out;
    for (std::size_t number = 0; number < plan.regions.size(); ++number)
        if (const auto &counted = plan.regions[number].counted)
            out += title(plan, number) + ": counts in shared memory from byte " +
                   std::to_string(counted->variable->offset) + ", " +
                   std::to_string(counted->variable->size) + " bytes of " +
                   std::to_string(ir::bits(counted->type)) + "-bit numbers\n";
    return out.empty() ? "none\n" : out;
}

} // namespace softcuda::warp
