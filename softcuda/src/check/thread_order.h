// thread_order.h -- the order of the accesses of a launch: a happens-before relation.
//
// Each warp has a clock, which is incremented at each synchronisation. An access is identified by
// its warp and the value of the clock. A warp has a vector clock: for each warp of its block, the
// clock value up to which that warp's accesses are ordered before its own:
//
//     barrier                 those who leave know what those who arrived knew
//     __syncwarp              lanes of one warp know each other's accesses
//     __threadfence           present knowledge may be passed on
//     atomic, volatile write  passes it on to those who read the place later (SyncPlace)
//
// In a cluster of several blocks, a warp has such a vector also for each other block of its cluster
// (PeerClocks), and the barrier of the cluster joins all of them. There are too many blocks for
// vector clocks over all blocks of a grid. For the blocks of other clusters, a warp keeps
// references of the form "the first n entries of that place's list".
#pragma once

#include "rt/watch_abi.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace softcuda::check {

inline constexpr unsigned kWarps = 32; ///< of a block, at most

/// The clock value of an asynchronous copy that no thread has waited for. Not even the thread that
/// started the copy knows it.
inline constexpr std::uint32_t kUnderWay = ~0u;

/// By warp of one block: the clock value up to which its accesses are known.
using Clocks = std::array<std::uint32_t, kWarps>;

class SyncPlace;

/// A reference: the first `length` entries of a place's list are known.
struct Known {
    const SyncPlace *place = nullptr;
    std::uint32_t length = 0;
};
using KnownPlaces = std::vector<Known>;

/// One thread: its block, its warp in the block, its lane.
struct ThreadId {
    std::uint32_t block = 0, warp = 0, lane = 0;
};

/// Of the warps of one block of the cluster: the clocks that a warp knows, and those that it can
/// release to a scope, because it knew them before a fence of this scope.
struct PeerClocks {
    Clocks known{};
    std::array<Clocks, 3> released{}; ///< by rt::WatchScope
    bool any = false;                 ///< `known` is not 0
};

/// The accesses that a warp knows: those ordered before its next access.
struct WarpOrder {
    std::uint32_t clock = 1;
    Clocks known{};        ///< ordered before the warp's current access
    Clocks fenced{};       ///< known before a fence; can be released to the block
    Clocks published{};    ///< known before a fence of device scope; can be released to any thread
    bool has_news = false; ///< the block does not know all of `fenced`
    bool has_published = false; ///< `published` is not 0
    KnownPlaces places;         ///< of other blocks
    std::uint32_t met = 0;      ///< up to this clock value, all lanes know each other's accesses
    /// By lane: the clocks that it knows of each lane, if only some lanes have synchronised since.
    std::unique_ptr<std::array<Clocks, 32>> lanes;
    /// By rank in the cluster; empty if the block is alone. Of the own block, only the clocks that
    /// can be released to the cluster are here.
    std::vector<PeerClocks> peers;
};

/// The blocks of a cluster, which run on one thread, and its barrier.
class ClusterOrder {
  public:
    /// A cluster of this number of blocks.
    explicit ClusterOrder(std::uint32_t blocks) : phases_{Phase(blocks), Phase(blocks)} {}
    /// Adds the block of the next rank, and returns the rank.
    std::uint32_t add(std::uint32_t block);
    /// The only block of the cluster becomes another one.
    void restart(std::uint32_t block) { blocks_ = {block}; }
    /// The rank of the block; kNone: it is not in the cluster.
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t block) const;
    [[nodiscard]] const std::vector<std::uint32_t> &blocks() const { return blocks_; }
    [[nodiscard]] std::size_t size() const { return phases_[0].known.size(); }
    static constexpr std::uint32_t kNone = ~0u;

    /// Clocks of the warps that arrived in a phase of the barrier.
    struct Phase {
        explicit Phase(std::size_t blocks) : known(blocks), published(blocks) {}
        std::vector<Clocks> known, published; ///< by rank
        KnownPlaces places;
    };
    [[nodiscard]] Phase &phase(std::uint32_t number) { return phases_[number % 2]; }

  private:
    std::vector<std::uint32_t> blocks_; ///< by rank
    std::array<Phase, 2> phases_;
};

/// A place in memory by which threads synchronise.
class SyncPlace {
  public:
    /// Release: adds the warp's fenced clocks to the place.
    void release(std::uint32_t block, const WarpOrder &warp, const ClusterOrder &cluster);
    /// Acquire: the warp now knows all that was released at the place. Returns the clocks of the
    /// block's own threads, by warp.
    Clocks acquire(std::uint32_t block, WarpOrder &warp, const ClusterOrder &cluster) const;
    /// Whether one of the first `length` entries belongs to `thread`'s block and contains its
    /// warp's `clock`.
    [[nodiscard]] bool knows(std::uint32_t length, const ThreadId &thread,
                             std::uint32_t clock) const;

  private:
    /// Clocks of the warps of one block, which a warp of the block, or of a block of its cluster,
    /// has released.
    struct Entry {
        Clocks fenced, published;
    };
    /// In a launch with clusters, beside each entry.
    struct OfCluster {
        std::uint32_t by = 0; ///< the block that has released them
        Clocks clustered;
    };
    void add(std::uint32_t block, const Entry &entry);
    void acquire_of_peer(const ClusterOrder &cluster, std::uint32_t rank, std::uint32_t block,
                         std::uint32_t seen, WarpOrder &warp) const;

    mutable std::mutex mutex_;
    std::vector<OfCluster> of_cluster_; ///< empty in a launch without clusters
    std::vector<Entry> entries_;
    struct OfBlock {
        std::vector<std::uint32_t> entries;
        Clocks fenced{}; ///< by any of them
    };
    std::unordered_map<std::uint32_t, OfBlock> of_block_;
    KnownPlaces closure_; ///< the places that the releasing warps knew
};

/// The places of one launch.
class SyncPlaces {
  public:
    /// Null if nothing was released there.
    [[nodiscard]] SyncPlace *find(std::uint64_t address);
    SyncPlace &get(std::uint64_t address);
    [[nodiscard]] bool any() const { return any_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::size_t kShards = 16;
    struct Shard {
        std::mutex mutex;
        std::unordered_map<std::uint64_t, std::unique_ptr<SyncPlace>> places;
    };
    std::array<Shard, kShards> shards_;
    std::atomic<bool> any_{false};
};

/// The warps of one block.
class BlockOrder {
  public:
    /// `cluster`: that of the block, which must outlive it. The block becomes its next one.
    BlockOrder(std::uint32_t block, std::uint32_t warps, SyncPlaces &places, ClusterOrder &cluster);
    /// Resets the state for another block with the same number of warps, which is alone.
    void restart(std::uint32_t block);

    [[nodiscard]] std::uint32_t clock(std::uint32_t warp) const { return warps_[warp].clock; }
    /// Whether the access of `first` at its warp's `clock` is ordered before the current access of
    /// `second`, a thread of this block.
    [[nodiscard]] bool ordered(const ThreadId &first, std::uint32_t clock,
                               const ThreadId &second) const;

    /// As above for all lanes of `warp`; `before` is a warp of this block. False if the answer
    /// differs between lanes.
    [[nodiscard]] bool known_to_all_lanes(std::uint32_t warp, std::uint32_t before,
                                          std::uint32_t clock) const {
        const WarpOrder &order = warps_[warp];
        return clock <= (before == warp ? order.met : order.known[before]);
    }

    void fence(std::uint32_t warp, rt::WatchScope scope);
    /// Acquire: `lanes` have read the place.
    void acquire(std::uint32_t warp, std::uint64_t address, std::uint32_t lanes);
    /// False if nothing was released there: then acquire() does nothing.
    [[nodiscard]] bool may_acquire() const { return places_.any(); }
    void release(std::uint32_t warp, std::uint64_t address);
    /// False if release() would add nothing new for the threads that can read the place: the
    /// block's warps, or with `anybody` all threads.
    [[nodiscard]] bool may_release(std::uint32_t warp, bool anybody) const {
        return warps_[warp].has_news || (anybody && warps_[warp].has_published);
    }
    /// The lanes in `lanes` wait for each other; `all` is the mask of the warp's lanes.
    void meet(std::uint32_t warp, std::uint32_t lanes, std::uint32_t all);
    void arrive(std::uint32_t warp, std::uint32_t barrier, bool waits);
    /// `all`: it is one of the whole block.
    void leave(std::uint32_t warp, std::uint32_t barrier, bool all);
    /// Records that the warp, and the warps that it synchronises with later, know the place.
    void know(std::uint32_t warp, const SyncPlace &place);
    [[nodiscard]] bool knows(std::uint32_t warp, const SyncPlace &place) const;
    /// All warps pass a barrier of the whole block.
    void pass_all();
    /// The warp arrives at the cluster's barrier. If it does not release, then only accesses before
    /// an earlier fence are ordered before those of the others.
    void arrive_at_cluster(std::uint32_t warp, bool releases);
    void leave_cluster(std::uint32_t warp);

  private:
    /// The clocks of the threads that arrived in the last two phases of a barrier.
    struct Phase {
        Clocks known{}, published{};
        KnownPlaces places;
        std::vector<PeerClocks> peers; ///< their known clocks, and those released to the device
    };
    struct Barrier {
        std::array<Phase, 2> phases;
        Clocks passed{}; ///< by warp: how often
    };
    void step(WarpOrder &order, std::uint32_t warp);
    /// The warp can release its knowledge of other blocks to `scope` from now on.
    void release_peers(WarpOrder &order, rt::WatchScope scope) const;

    std::uint32_t block_;
    ClusterOrder &cluster_;
    std::uint32_t rank_; ///< in the cluster
    SyncPlaces &places_;
    bool changed_ = false; ///< since the block began
    std::vector<WarpOrder> warps_;
    std::array<std::unique_ptr<Barrier>, 16> barriers_;
    Clocks cluster_phases_{}; ///< by warp: phases of the cluster's barrier that it has passed
};

} // namespace softcuda::check
