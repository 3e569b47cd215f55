// warp_sync.cpp -- checks that all lanes reach the barriers and exchanges at which others wait for
// them.
#include "check/block_checks.h"

#include <bit>
#include <cstdio>
#include <utility>

namespace softcuda::check {
namespace {

std::string text_of_mask(const char *before, std::uint32_t mask) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", mask);
    return before + std::string(text);
}

/// Whether each lane in `mask` is one of its members, all of which are present and name the same
/// members, and names the lane that it reads: the usual case.
bool is_right(std::uint32_t mask, std::uint32_t all, std::uint32_t present,
              const std::uint32_t *members, const std::uint32_t *sources) {
    for (std::uint32_t left = mask; left != 0;) {
        const std::uint32_t named = members[std::countr_zero(left)];
        const std::uint32_t group = named & mask;
        if ((group & left & (~left + 1)) == 0 || (named & all & ~present) != 0)
            return false;
        for (std::uint32_t others = group; others != 0; others &= others - 1) {
            const auto other = static_cast<std::uint32_t>(std::countr_zero(others));
            if (members[other] != named ||
                (sources && (named >> (sources[other] % rt::kWarpSize) & 1) == 0))
                return false;
        }
        left &= ~group;
    }
    return true;
}

} // namespace

void BlockChecks::meet(rt::WatchSite &site, std::uint32_t mask, const std::uint32_t *members,
                       const std::uint32_t *sources) {
    if (launch_.modes & Sync)
        check_warp_sync(site, mask, members, sources);
    stranded_ = false;
    if (!site.acquire)
        return; // shuffles and votes order no memory
    const std::uint32_t all = lanes_of_warp();
    for (std::uint32_t left = mask; left != 0;) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        // Those who met elsewhere in the program have met these, too.
        const std::uint32_t here = site.strong ? mask : all;
        const std::uint32_t together = (members[lane] & here) | 1u << lane;
        order_.meet(state_.warp_index, together, all);
        left &= ~together;
    }
}

void BlockChecks::check_warp_sync(rt::WatchSite &site, std::uint32_t mask,
                                  const std::uint32_t *members, const std::uint32_t *sources) {
    const std::uint32_t number = number_of(site), all = lanes_of_warp();
    const std::uint32_t present = site.strong ? mask : live_;
    if (!stranded_ && is_right(mask, all, present, members, sources))
        return;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint32_t named = members[lane] & all;
        const std::uint32_t absent = named & ~present;
        std::string wrong;
        if ((named >> lane & 1) == 0)
            wrong = text_of_mask("its mask ", members[lane]) + " lacks the thread's own lane, " +
                    std::to_string(lane);
        else if (absent != 0 || stranded_)
            wrong = text_of_mask("its mask ", members[lane]) + " names lanes that do not arrive" +
                    (absent != 0 ? text_of_mask(": ", absent) : "");
        else if (sources && (members[lane] >> (sources[lane] % rt::kWarpSize) & 1) == 0)
            wrong = "it reads lane " + std::to_string(sources[lane]) + ", which its mask " +
                    text_of_mask("", members[lane]) + " does not name";
        for (std::uint32_t others = named & mask; wrong.empty() && others != 0;
             others &= others - 1) {
            const int other = std::countr_zero(others);
            if (members[other] != members[lane])
                wrong = "its mask is " + text_of_mask("", members[lane]) + ", and that of lane " +
                        std::to_string(other) + ", which it names, " +
                        text_of_mask("", members[other]);
        }
        if (wrong.empty() || launch_.is_known(Kind::WrongMask, number, 0))
            continue;
        Finding finding;
        finding.mode = Sync;
        finding.detail = wrong;
        finding.accesses = {launch_.access(number, block_, thread(lane), 0)};
        launch_.tell(Kind::WrongMask, number, 0, finding);
    }
}

void BlockChecks::live_lanes(std::uint32_t lanes, bool stranded) {
    live_ = lanes;
    stranded_ = stranded;
}

void BlockChecks::come_to_barrier(rt::WatchSite &site, std::uint32_t mask) {
    barrier_sites_[state_.warp_index] = &site;
    last_barrier_ = &site;
    PhaseSite &phase = phase_sites_[arrivals_[state_.warp_index] % phase_sites_.size()];
    const std::uint32_t number = ++arrivals_[state_.warp_index];
    if (phase.number == number)
        met_apart_ = met_apart_ || phase.site != &site;
    else
        phase = {number, &site};
    if (site.strong)
        check_barrier(site, mask);
}

void BlockChecks::lanes_at_barrier(std::uint32_t lanes) {
    if (rt::WatchSite *site = barrier_sites_[state_.warp_index])
        check_barrier(*site, lanes);
}

void BlockChecks::check_barrier(rt::WatchSite &site, std::uint32_t lanes) {
    const std::uint32_t missing = lanes_of_warp() & ~lanes;
    if (!(launch_.modes & Sync) || missing == 0 || lanes == 0)
        return;
    const std::uint32_t number = number_of(site);
    if (launch_.is_known(Kind::DivergentBarrier, number, 0))
        return;
    Finding finding;
    finding.mode = Sync;
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    const auto absent = static_cast<std::uint32_t>(std::countr_zero(missing));
    const int count = std::popcount(missing);
    finding.detail = (count == 1 ? "a lane" : std::to_string(count) + " lanes") +
                     std::string(" of its warp ") + (count == 1 ? "does" : "do") +
                     " not come: thread " + std::to_string(thread(absent)) +
                     " of the block is the first";
    finding.accesses = {launch_.access(number, block_, thread(lane), 0)};
    launch_.tell(Kind::DivergentBarrier, number, 0, finding);
}

// Legal since sm_70: a barrier waits for the threads that have not ended. But if warps have met at
// different barriers of the program, the warps that ended have passed fewer barriers than others.
void BlockChecks::pass_without(std::uint32_t ended) {
    if (!(launch_.modes & Sync) || !last_barrier_)
        return;
    const std::uint32_t number = number_of(*last_barrier_);
    if (met_apart_) {
        if (launch_.is_known(Kind::DivergentBarrier, number, 0))
            return;
        Finding finding;
        finding.mode = Sync;
        finding.detail = std::to_string(ended) + (ended == 1 ? " warp" : " warps") +
                         " of the block ended without reaching it, after warps had met at "
                         "different barriers";
        finding.accesses = {launch_.access(number, block_, thread(0), 0)};
        launch_.tell(Kind::DivergentBarrier, number, 0, finding);
        return;
    }
    if (std::exchange(noted_, number) == number)
        return;
    const SiteText site = text_of(number);
    add_note("kernel `" + launch_.kernel + "`: " + (ended == 1 ? "a warp" : "warps") +
             " of a block ended before the barrier at " + site.file + ":" +
             std::to_string(site.line) + ", which only sm_70 and later allow");
}

} // namespace softcuda::check
