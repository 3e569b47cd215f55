// thread_order.cpp -- vector clocks, joined at synchronisations.
#include "check/thread_order.h"

#include "support/fence.h"

#include <algorithm>
#include <bit>

namespace softcuda::check {

using rt::WatchScope;

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

constexpr auto kClusterScope = static_cast<std::size_t>(WatchScope::Cluster);
constexpr auto kDeviceScope = static_cast<std::size_t>(WatchScope::Device);

/// Joins clocks of other blocks of the cluster, which were known at a barrier of the block.
void join_known(std::vector<PeerClocks> &into, const std::vector<PeerClocks> &from) {
    into.resize(from.size());
    for (std::size_t rank = 0; rank < from.size(); ++rank) {
        if (!from[rank].any)
            continue;
        into[rank].any = true;
        join(into[rank].known, from[rank].known);
        join(into[rank].released[kDeviceScope], from[rank].released[kDeviceScope]);
    }
}

} // namespace

std::uint32_t ClusterOrder::add(std::uint32_t block) {
    blocks_.push_back(block);
    return static_cast<std::uint32_t>(blocks_.size() - 1);
}

std::uint32_t ClusterOrder::rank_of(std::uint32_t block) const {
    const auto found = std::find(blocks_.begin(), blocks_.end(), block);
    return found == blocks_.end() ? kNone : static_cast<std::uint32_t>(found - blocks_.begin());
}

void SyncPlace::add(std::uint32_t block, const Entry &entry) {
    of_block_[block].entries.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.push_back(entry);
}

void SyncPlace::release(std::uint32_t block, const WarpOrder &warp, const ClusterOrder &cluster) {
    std::lock_guard lock(mutex_);
    OfBlock &own = of_block_[block];
    join(own.fenced, warp.fenced);
    const std::vector<std::uint32_t> &mine = own.entries;
    // A warp that releases the same clocks again, as in a loop that waits for a lock, needs no new
    // entry.
    if (!mine.empty() && mine.back() + 1 == entries_.size() &&
        entries_.back().fenced == warp.fenced && entries_.back().published == warp.published)
        return;
    const Clocks *clustered = nullptr;
    for (std::uint32_t rank = 0; rank < warp.peers.size(); ++rank) {
        const PeerClocks &peer = warp.peers[rank];
        if (cluster.blocks()[rank] == block) {
            clustered = &peer.released[kClusterScope];
        } else if (peer.any) {
            add(cluster.blocks()[rank], {peer.released[0], peer.released[kDeviceScope]});
            of_cluster_.push_back({block, peer.released[kClusterScope]});
        }
    }
    add(block, {warp.fenced, warp.published});
    if (clustered)
        of_cluster_.push_back({block, *clustered});
    for (const Known &known : warp.places)
        if (known.place != this)
            join(closure_, known);
}

/// Learns the clocks of another block of the cluster, or of the own block, that others have
/// released.
void SyncPlace::acquire_of_peer(const ClusterOrder &cluster, std::uint32_t rank,
                                std::uint32_t block, std::uint32_t seen, WarpOrder &warp) const {
    const auto found = of_block_.find(cluster.blocks()[rank]);
    if (found == of_block_.end())
        return;
    const bool own = cluster.blocks()[rank] == block;
    PeerClocks &peer = warp.peers[rank];
    Clocks &known = own ? warp.known : peer.known;
    const std::vector<std::uint32_t> &all = found->second.entries;
    for (auto at = std::lower_bound(all.begin(), all.end(), seen); at != all.end(); ++at) {
        const Entry &entry = entries_[*at];
        const auto &[by, clustered] = of_cluster_[*at];
        const bool near = cluster.rank_of(by) != ClusterOrder::kNone;
        join(known, by == block ? entry.fenced : near ? clustered : entry.published);
        join(peer.released[kClusterScope], near ? clustered : entry.published);
        join(own ? warp.published : peer.released[kDeviceScope], entry.published);
        warp.has_published = peer.any = true;
    }
}

Clocks SyncPlace::acquire(std::uint32_t block, WarpOrder &warp, const ClusterOrder &cluster) const {
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
    for (std::uint32_t rank = 0; rank < warp.peers.size(); ++rank)
        acquire_of_peer(cluster, rank, block, seen, warp);
    if (warp.peers.empty() && mine != of_block_.end()) {
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

BlockOrder::BlockOrder(std::uint32_t block, std::uint32_t warps, SyncPlaces &places,
                       ClusterOrder &cluster)
    : block_(block), cluster_(cluster), rank_(cluster.add(block)), places_(places), warps_(warps) {
    if (cluster.size() > 1)
        for (WarpOrder &order : warps_)
            order.peers.resize(cluster.size());
}

bool BlockOrder::ordered(const ThreadId &first, std::uint32_t clock, const ThreadId &second) const {
    const WarpOrder &order = warps_[second.warp];
    if (first.block != block_ && !order.peers.empty()) {
        const std::uint32_t rank = cluster_.rank_of(first.block);
        if (rank != ClusterOrder::kNone && order.peers[rank].known[first.warp] >= clock)
            return true;
    }
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

void BlockOrder::release_peers(WarpOrder &order, WatchScope scope) const {
    for (std::uint32_t rank = 0; rank < order.peers.size(); ++rank) {
        PeerClocks &peer = order.peers[rank];
        for (std::size_t each = 0; each <= static_cast<std::size_t>(scope); ++each)
            peer.released[each] = rank == rank_ ? order.known : peer.known;
    }
}

void BlockOrder::fence(std::uint32_t warp, WatchScope scope) {
    WarpOrder &order = warps_[warp];
    step(order, warp);
    order.fenced = order.known;
    order.has_news = true;
    if (scope == WatchScope::Device) {
        order.published = order.known;
        order.has_published = true;
    }
    release_peers(order, scope);
}

void BlockOrder::acquire(std::uint32_t warp, std::uint64_t address, std::uint32_t lanes) {
    const SyncPlace *place = places_.find(address);
    if (!place)
        return;
    WarpOrder &order = warps_[warp];
    changed_ = true;
    const std::uint32_t own = place->acquire(block_, order, cluster_)[warp];
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
    places_.get(address).release(block_, warps_[warp], cluster_);
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
    join_known(phase.peers, order.peers);
    if (!waits)
        ++at->passed[warp];
}

void BlockOrder::know(std::uint32_t warp, const SyncPlace &place) {
    changed_ = true;
    join(warps_[warp].places, {&place, 0});
}

bool BlockOrder::knows(std::uint32_t warp, const SyncPlace &place) const {
    const KnownPlaces &places = warps_[warp].places;
    return std::any_of(places.begin(), places.end(),
                       [&](const Known &known) { return known.place == &place; });
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
    cluster_.restart(block);
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
    join_known(order.peers, phase.peers);
    order.fenced = order.known;
    order.has_news = !all;
    release_peers(order, WatchScope::Block);
}

void BlockOrder::arrive_at_cluster(std::uint32_t warp, bool releases) {
    WarpOrder &order = warps_[warp];
    step(order, warp);
    order.met = order.known[warp];
    ClusterOrder::Phase &phase = cluster_.phase(cluster_phases_[warp]);
    const auto add = [&](std::uint32_t rank, const Clocks &known, const Clocks &published) {
        join(phase.known[rank], known);
        join(phase.published[rank], published);
    };
    if (order.peers.empty())
        add(rank_, releases ? order.known : order.fenced, order.published);
    for (std::uint32_t rank = 0; rank < order.peers.size(); ++rank) {
        const PeerClocks &peer = order.peers[rank];
        const Clocks &fenced = peer.released[kClusterScope];
        if (rank == rank_)
            add(rank, releases ? order.known : fenced, order.published);
        else if (peer.any)
            add(rank, releases ? peer.known : fenced, peer.released[kDeviceScope]);
    }
    join(phase.places, order.places);
}

void BlockOrder::leave_cluster(std::uint32_t warp) {
    WarpOrder &order = warps_[warp];
    const ClusterOrder::Phase &phase = cluster_.phase(cluster_phases_[warp]++);
    changed_ = true;
    join(order.known, phase.known[rank_]);
    join(order.published, phase.published[rank_]);
    order.has_published = order.has_published || order.published != Clocks{};
    for (std::uint32_t rank = 0; rank < order.peers.size(); ++rank) {
        if (rank == rank_)
            continue;
        PeerClocks &peer = order.peers[rank];
        join(peer.known, phase.known[rank]);
        join(peer.released[kDeviceScope], phase.published[rank]);
        peer.any = true;
    }
    join(order.places, phase.places);
    order.fenced = order.known;
    order.has_news = true;
    release_peers(order, WatchScope::Cluster);
}

} // namespace softcuda::check
