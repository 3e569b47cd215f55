// thread_order.h -- which accesses of a launch come before which: a happens-before relation.
//
// Each warp has a clock that counts its steps from one synchronisation to the next; an access is
// known by its warp and the clock's reading. A warp keeps, for each warp of its block, the reading
// up to which that warp's accesses come before its own (a vector clock):
//
//     barrier                 those who leave know what those who arrived knew
//     __syncwarp              lanes of one warp know each other's accesses
//     __threadfence           what is known now may be passed on
//     atomic, volatile write  passes it on to those who read the place later (SyncPlace)
//
// Blocks are too many for clocks of each other. What a warp knows of others is instead kept as
// references: "the first n entries of that place's list".
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace softcuda::check {

inline constexpr unsigned kWarps = 32; ///< of a block, at most

/// By warp of one block: the reading up to which its accesses are known.
using Clocks = std::array<std::uint32_t, kWarps>;

class SyncPlace;

/// The first `length` entries of a place's list are known.
struct Known {
    const SyncPlace *place = nullptr;
    std::uint32_t length = 0;
};
using KnownPlaces = std::vector<Known>;

/// One thread: its block, its warp there, its lane.
struct ThreadId {
    std::uint32_t block = 0, warp = 0, lane = 0;
};

/// What a warp knows.
struct WarpOrder {
    std::uint32_t clock = 1;
    Clocks known{};             ///< comes before what this warp does now
    Clocks fenced{};            ///< and can be passed on within the block
    Clocks published{};         ///< and to any thread
    bool has_news = false;      ///< some of `fenced` is not known to all of the block
    bool has_published = false; ///< `published` is not 0
    KnownPlaces places;         ///< of other blocks
    std::uint32_t met = 0;      ///< up to this reading all lanes know of each other
    /// By lane: what it knows of each lane, where only some have met since.
    std::unique_ptr<std::array<Clocks, 32>> lanes;
};

/// A place in memory by which threads synchronise.
class SyncPlace {
  public:
    /// Passes on what the warp has fenced.
    void release(std::uint32_t block, const WarpOrder &warp);
    /// What others have passed on is known from now on. Returns what threads of the block have, by
    /// warp.
    Clocks acquire(std::uint32_t block, WarpOrder &warp) const;
    /// Whether one of the first `length` entries is of `thread`'s block and knows its warp's
    /// `clock`.
    [[nodiscard]] bool knows(std::uint32_t length, const ThreadId &thread,
                             std::uint32_t clock) const;

  private:
    struct Entry {
        Clocks fenced, published;
    };
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
    struct OfBlock {
        std::vector<std::uint32_t> entries;
        Clocks fenced{}; ///< by any of them
    };
    std::unordered_map<std::uint32_t, OfBlock> of_block_;
    KnownPlaces closure_; ///< what those who passed something on knew
};

/// The places of one launch.
class SyncPlaces {
  public:
    /// Null where nothing was passed on.
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
    BlockOrder(std::uint32_t block, std::uint32_t warps, SyncPlaces &places)
        : block_(block), places_(places), warps_(warps) {}
    /// For another block of as many warps.
    void restart(std::uint32_t block);

    [[nodiscard]] std::uint32_t clock(std::uint32_t warp) const { return warps_[warp].clock; }
    /// Whether what `first` did at its warp's `clock` comes before what `second`, a thread of this
    /// block, does now.
    [[nodiscard]] bool ordered(const ThreadId &first, std::uint32_t clock,
                               const ThreadId &second) const;

    /// The same for all lanes of `warp`, where `before` is a warp of this block: false where it
    /// depends on the lanes.
    [[nodiscard]] bool known_to_all_lanes(std::uint32_t warp, std::uint32_t before,
                                          std::uint32_t clock) const {
        const WarpOrder &order = warps_[warp];
        return clock <= (before == warp ? order.met : order.known[before]);
    }

    void fence(std::uint32_t warp, bool device);
    /// `lanes` have read the place.
    void acquire(std::uint32_t warp, std::uint64_t address, std::uint32_t lanes);
    /// False where nobody has passed anything on: then acquire() does nothing.
    [[nodiscard]] bool may_acquire() const { return places_.any(); }
    void release(std::uint32_t warp, std::uint64_t address);
    /// False where release() would tell nobody anything new; of those who can see the place: the
    /// block's warps, or `anybody`.
    [[nodiscard]] bool may_release(std::uint32_t warp, bool anybody) const {
        return warps_[warp].has_news || (anybody && warps_[warp].has_published);
    }
    /// The lanes in `lanes` wait for each other; `all` are those of the warp.
    void meet(std::uint32_t warp, std::uint32_t lanes, std::uint32_t all);
    void arrive(std::uint32_t warp, std::uint32_t barrier, bool waits);
    /// `all`: it is one of the whole block.
    void leave(std::uint32_t warp, std::uint32_t barrier, bool all);
    /// All warps pass a barrier of the whole block.
    void pass_all();

  private:
    /// What those knew who came to one of a barrier's last two phases.
    struct Phase {
        Clocks known{}, published{};
        KnownPlaces places;
    };
    struct Barrier {
        std::array<Phase, 2> phases;
        Clocks passed{}; ///< by warp: how often
    };
    void step(WarpOrder &order, std::uint32_t warp);

    std::uint32_t block_;
    SyncPlaces &places_;
    std::vector<WarpOrder> warps_;
    std::array<std::unique_ptr<Barrier>, 16> barriers_;
};

} // namespace softcuda::check
