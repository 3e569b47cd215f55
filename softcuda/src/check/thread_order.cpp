// thread_order.cpp -- vector clocks, joined at synchronisations.
#include "check/thread_order.h"

#include "support/fence.h"

#include <algorithm>
#include <bit>

namespace softcuda::check {
namespace {

void join(Clocks &into, const Clocks &from) {
    for (unsigned warp = 0; warp < kWarps; ++warp)
        into[warp] = std::max(into[warp], from[warp]);
}

void join(KnownPlaces &into, const Known &known) {
    for (Known &mine : into)
        if (mine.place == known.place) {
            mine.length = std::max(mine.length, known.length);
            return;
        }
    into.push_back(known);
}

void join(KnownPlaces &into, const KnownPlaces &from) {
    for (const Known &known : from)
        join(into, known);
}

} // namespace

void SyncPlace::release(std::uint32_t block, const WarpOrder &warp) {
    std::lock_guard lock(mutex_);
    OfBlock &own = of_block_[block];
    join(own.fenced, warp.fenced);
    std::vector<std::uint32_t> &mine = own.entries;
    // A warp that releases the same clocks again, as in a loop that waits for a lock, needs no new
    // entry.
    if (!mine.empty() && mine.back() + 1 == entries_.size() &&
        entries_.back().fenced == warp.fenced && entries_.back().published == warp.published)
        return;
    mine.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.push_back({warp.fenced, warp.published});
    for (const Known &known : warp.places)
        if (known.place != this)
            join(closure_, known);
}

Clocks SyncPlace::acquire(std::uint32_t block, WarpOrder &warp) const {
    std::lock_guard lock(mutex_);
    const auto length = static_cast<std::uint32_t>(entries_.size());
    const auto mine = of_block_.find(block);
    const Clocks passed_on = mine == of_block_.end() ? Clocks{} : mine->second.fenced;
    std::uint32_t seen = 0;
    for (const Known &known : warp.places)
        if (known.place == this)
            seen = known.length;
    if (seen == length)
        return passed_on;
    if (mine != of_block_.end()) {
        const std::vector<std::uint32_t> &all = mine->second.entries;
        for (auto at = std::lower_bound(all.begin(), all.end(), seen); at != all.end(); ++at) {
            join(warp.known, entries_[*at].fenced);
            join(warp.published, entries_[*at].published);
            warp.has_published = true;
        }
    }
    join(warp.places, closure_);
    join(warp.places, {this, length});
    return passed_on;
}

bool SyncPlace::knows(std::uint32_t length, const ThreadId &thread, std::uint32_t clock) const {
    std::lock_guard lock(mutex_);
    const auto found = of_block_.find(thread.block);
    if (found == of_block_.end())
        return false;
    for (const std::uint32_t at : found->second.entries) {
        if (at >= length)
            break;
        if (entries_[at].published[thread.warp] >= clock)
            return true;
    }
    return false;
}

SyncPlace *SyncPlaces::find(std::uint64_t address) {
    if (!any_.load(std::memory_order_relaxed))
        return nullptr;
    Shard &shard = shards_[address / 4 % kShards];
    std::lock_guard lock(shard.mutex);
    const auto found = shard.places.find(address);
    return found == shard.places.end() ? nullptr : found->second.get();
}

SyncPlace &SyncPlaces::get(std::uint64_t address) {
    any_ = true;
    Shard &shard = shards_[address / 4 % kShards];
    std::lock_guard lock(shard.mutex);
    std::unique_ptr<SyncPlace> &place = shard.places[address];
    if (!place)
        place = std::make_unique<SyncPlace>();
    return *place;
}

bool BlockOrder::ordered(const ThreadId &first, std::uint32_t clock, const ThreadId &second) const {
    const WarpOrder &order = warps_[second.warp];
    if (first.block != block_)
        return std::any_of(order.places.begin(), order.places.end(), [&](const Known &known) {
            return known.place->knows(known.length, first, clock);
        });
    if (first.warp != second.warp)
        return order.known[first.warp] >= clock;
    if ((first.lane == second.lane && clock != kUnderWay) || clock <= order.met)
        return true;
    return order.lanes && (*order.lanes)[second.lane][first.lane] >= clock;
}

/// Advances the warp's clock: later accesses are distinguished from earlier ones.
void BlockOrder::step(WarpOrder &order, std::uint32_t warp) {
    changed_ = true;
    order.known[warp] = order.clock++;
}

void BlockOrder::fence(std::uint32_t warp, bool device) {
    WarpOrder &order = warps_[warp];
    step(order, warp);
    order.fenced = order.known;
    order.has_news = true;
    if (device) {
        order.published = order.known;
        order.has_published = true;
    }
}

void BlockOrder::acquire(std::uint32_t warp, std::uint64_t address, std::uint32_t lanes) {
    const SyncPlace *place = places_.find(address);
    if (!place)
        return;
    WarpOrder &order = warps_[warp];
    changed_ = true;
    const std::uint32_t own = place->acquire(block_, order)[warp];
    if (own <= order.met)
        return;
    // A lane of this warp has released the accesses of its warp; the lanes that have read the place
    // know them.
    if (!order.lanes)
        order.lanes = std::make_unique<std::array<Clocks, 32>>();
    for (std::uint32_t left = lanes; left != 0; left &= left - 1)
        for (std::uint32_t &known : (*order.lanes)[static_cast<unsigned>(std::countr_zero(left))])
            known = std::max(known, own);
}

void BlockOrder::release(std::uint32_t warp, std::uint64_t address) {
    if (!may_release(warp, true))
        return;
    places_.get(address).release(block_, warps_[warp]);
    // Who sees the value that the kernel stores next must find the release.
    release_fence();
}

void BlockOrder::meet(std::uint32_t warp, std::uint32_t lanes, std::uint32_t all) {
    WarpOrder &order = warps_[warp];
    step(order, warp);
    const std::uint32_t clock = order.known[warp];
    if ((lanes & all) == all) {
        order.met = clock;
        return;
    }
    if (!order.lanes)
        order.lanes = std::make_unique<std::array<Clocks, 32>>();
    Clocks together{};
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        (*order.lanes)[lane][lane] = clock;
        join(together, (*order.lanes)[lane]);
    }
    for (std::uint32_t left = lanes; left != 0; left &= left - 1)
        (*order.lanes)[static_cast<unsigned>(std::countr_zero(left))] = together;
}

void BlockOrder::arrive(std::uint32_t warp, std::uint32_t barrier, bool waits) {
    if (barrier >= barriers_.size())
        return; // the scheduler refuses it
    std::unique_ptr<Barrier> &at = barriers_[barrier];
    if (!at)
        at = std::make_unique<Barrier>();
    WarpOrder &order = warps_[warp];
    step(order, warp);
    order.met = order.known[warp];
    Phase &phase = at->phases[at->passed[warp] % 2];
    join(phase.known, order.known);
    join(phase.published, order.published);
    join(phase.places, order.places);
    if (!waits)
        ++at->passed[warp];
}

void BlockOrder::pass_all() {
    WarpOrder all;
    for (std::uint32_t warp = 0; warp < warps_.size(); ++warp) {
        WarpOrder &order = warps_[warp];
        step(order, warp);
        order.met = order.known[warp];
        all.known[warp] = order.known[warp]; // the warp's own clock is the most recent one
        if (order.has_published)
            join(all.published, order.published);
        all.has_published |= order.has_published;
        join(all.places, order.places);
    }
    for (WarpOrder &order : warps_) {
        order.known = order.fenced = all.known;
        if (all.has_published)
            order.published = all.published;
        order.has_published = all.has_published;
        order.places = all.places;
        order.has_news = false;
    }
}

void BlockOrder::restart(std::uint32_t block) {
    block_ = block;
    if (!changed_)
        return;
    changed_ = false;
    for (WarpOrder &order : warps_)
        order = {};
    for (const std::unique_ptr<Barrier> &barrier : barriers_)
        if (barrier)
            *barrier = {};
}

void BlockOrder::leave(std::uint32_t warp, std::uint32_t barrier, bool all) {
    if (barrier >= barriers_.size() || !barriers_[barrier])
        return;
    Barrier &at = *barriers_[barrier];
    WarpOrder &order = warps_[warp];
    const Phase &phase = at.phases[at.passed[warp]++ % 2];
    changed_ = true;
    join(order.known, phase.known);
    join(order.published, phase.published);
    order.has_published = order.has_published || phase.published != Clocks{};
    join(order.places, phase.places);
    order.fenced = order.known;
    order.has_news = !all;
}

} // namespace softcuda::check
