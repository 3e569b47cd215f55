// block_checks.h -- the checks of one thread block while it runs.
#pragma once

#include "check/access_marks.h"
#include "check/lane_addresses.h"
#include "check/launch_checks.h"
#include "check/phase_reads.h"
#include "check/thread_order.h"
#include "check/written_bytes.h"
#include "rt/watch.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace softcuda::check {

class BlockChecks final : public rt::BlockWatch {
  public:
    BlockChecks(LaunchChecks &launch, rt::WorkerState &state);
    ~BlockChecks() override;

    void begin_block() override;
    void pass(bool all) override;
    void access(rt::WatchSite &site, std::uint32_t mask, const std::uint64_t *addresses,
                const std::byte *values, rt::WatchPiece *piece) override;
    void access_row(rt::WatchSite &site, std::uint32_t mask, std::uint64_t first,
                    std::uint64_t step, const std::byte *values, rt::WatchPiece *piece) override;
    void copy(rt::WatchSite &site, std::uint32_t lane, std::uint64_t address, std::uint64_t bytes,
              const rt::CopyEnd &end) override;
    void texels(rt::WatchSite &site, std::uint32_t mask, const std::uint64_t *addresses,
                std::uint32_t bytes) override;
    void end_copies(std::uint64_t barrier) override;
    void fence(rt::WatchScope scope, std::uint32_t mask) override;
    void meet(rt::WatchSite &site, std::uint32_t mask, const std::uint32_t *members,
              const std::uint32_t *sources) override;
    void wait_for_copies(std::uint32_t groups_left) override;
    void wait_for_earlier_grid() override;
    void launch_dependents() override;
    void lanes_at_barrier(std::uint32_t lanes) override;
    void live_lanes(std::uint32_t lanes, bool stranded) override;
    void come_to_barrier(rt::WatchSite &site, std::uint32_t mask) override;
    void arrive(std::uint32_t warp, std::uint32_t number, bool waits) override;
    void leave(std::uint32_t warp, std::uint32_t number, bool all) override;
    void arrive_at_cluster(std::uint32_t warp, bool releases) override;
    void leave_cluster(std::uint32_t warp) override;
    void pass_without(std::uint32_t ended) override;

  private:
    enum class Space { Global, Shared, Local };
    struct Cluster;
    /// One access of a warp, with derived values that are used several times.
    struct WarpAccess {
        rt::WatchSite &site;
        std::uint32_t number; ///< of the site
        std::uint32_t mask;
        LaneAddresses addresses;
        const std::byte *values;
        std::uint32_t bytes; ///< of a lane
        bool aligns;         ///< all addresses are multiples of `bytes`
        AddressSpan span;
        std::uint32_t warp;
        std::optional<Space>
            space; ///< the space of all lanes; empty if the lanes may have different spaces
        Mark mark; ///< without bytes and lanes
        bool under_way = false; ///< by an asynchronous copy that no thread has waited for
    };
    struct Place {
        Space space;
        std::uint64_t offset; ///< the offset in the window, or the address in global memory
    };
    [[nodiscard]] WarpAccess warp_access(rt::WatchSite &site, std::uint32_t mask,
                                         const LaneAddresses &addresses, const std::byte *values,
                                         std::uint32_t warp, std::uint32_t clock) const;
    [[nodiscard]] Mark mark_of(const rt::WatchSite &site, std::uint32_t number, std::uint32_t warp,
                               std::uint32_t clock) const {
        return {.block = block_,
                .clock = clock,
                .warp = warp,
                .site = number,
                .strong = site.strong,
                .scoped = site.scoped,
                .atomic = site.kind == rt::WatchKind::Atomic,
                .scope = static_cast<std::uint32_t>(site.scope)};
    }
    /// Whether accesses of this block with the scope are strong also for `block`.
    [[nodiscard]] bool reaches(std::uint32_t block, std::uint32_t scope) const {
        constexpr auto kDevice = static_cast<std::uint32_t>(rt::WatchScope::Device);
        return block == block_ || scope == kDevice ||
               (scope == static_cast<std::uint32_t>(rt::WatchScope::Cluster) &&
                is_in_cluster(block));
    }

    // cluster_checks.cpp
    [[nodiscard]] std::shared_ptr<Cluster> find_cluster() const;
    [[nodiscard]] bool is_in_cluster(std::uint32_t block) const;
    [[nodiscard]] bool has_peers() const;
    /// The block of the cluster whose shared memory contains the bytes; otherwise this one.
    [[nodiscard]] BlockChecks *owner_of(std::uint64_t address, std::uint64_t bytes);
    /// Calls each(lanes) for the lanes of each block's shared memory, and for all others. Meanwhile
    /// `owner_` is the block.
    template <class Each>
    void for_each_owner(const rt::WatchSite &site, std::uint32_t mask,
                        const LaneAddresses &addresses, Each each);
    void access_of_owner(rt::WatchSite &site, std::uint32_t mask, const LaneAddresses &addresses,
                         const std::byte *values, rt::WatchPiece *piece);

    [[nodiscard]] std::optional<Space> space_of(const WarpAccess &access) const;
    [[nodiscard]] Place place_of(const WarpAccess &access, std::uint64_t address) const;
    [[nodiscard]] std::uint32_t lanes_of_warp() const;
    [[nodiscard]] std::uint32_t thread(std::uint32_t lane) const;
    [[nodiscard]] FoundAccess found(const WarpAccess &access, std::uint32_t lane) const;

    // bounds.cpp
    void check_bounds(const WarpAccess &access);
    [[nodiscard]] bool is_within_bounds(const WarpAccess &access);
    void check_free(const WarpAccess &access);
    void check_window(const WarpAccess &access, std::uint32_t lane, Space space,
                      std::uint64_t offset);
    void check_global(const WarpAccess &access, std::uint32_t lane, std::uint64_t address);
    void report_bounds(const WarpAccess &access, std::uint32_t lane, Kind kind, const char *space,
                       std::string array);
    [[nodiscard]] const MemoryMap::Piece *piece_of(std::uint64_t address);

    void forget_windows();
    /// Fills in the range of bytes that contains the first lane's address: the kernel does not
    /// report accesses in this range from now on.
    void fill(rt::WatchPiece &piece, const WarpAccess &access);

    void check_written(const WarpAccess &access);
    [[nodiscard]] bool is_written_at_once(const WarpAccess &access);

    /// The current value of the current warp's clock.
    [[nodiscard]] std::uint32_t clock() const;
    /// One bit for each warp of the block.
    [[nodiscard]] std::uint32_t all_warps() const;
    /// All warps have passed a barrier.
    void begin_phase();

    // races.cpp
    void check_races(const WarpAccess &access);
    /// Checks the access against the marks, and adds it to the marks.
    void mark(const WarpAccess &access);
    /// Defers the check of a read until a write follows; false if this is impossible.
    [[nodiscard]] bool keeps_read(rt::WatchSite &site, std::uint32_t mask,
                                  const LaneAddresses &addresses);
    void mark_kept_reads();
    void check_word(const WarpAccess &access, Cell &cell, Space space, std::uint32_t lane,
                    std::uint32_t bytes, std::uint64_t address);
    void mark_word(const WarpAccess &access, Cell &cell, Space space, Mark now,
                   std::uint64_t address);
    // unwritten_reads.cpp
    /// Whether it is a read of memory that the launch does not write, which then is recorded. The
    /// kernel itself records later reads of the piece.
    [[nodiscard]] bool reads_unwritten(rt::WatchSite &site, std::uint32_t mask,
                                       const LaneAddresses &addresses, rt::WatchPiece *piece);
    void record_read(rt::WatchSite &site, std::uint32_t mask, const LaneAddresses &addresses,
                     const AddressSpan &span);
    /// Whether an unordered launch may have read words of the range.
    [[nodiscard]] bool may_be_read(const AddressSpan &span, std::uint32_t bytes);
    /// Reports writes to words that an unordered launch has read.
    void check_unwritten_reads(const WarpAccess &access);
    // bulk_copies.cpp
    void check_bulk_copy(WarpAccess access, const rt::CopyEnd &end);
    void wait_for_bulk_copies(std::uint32_t groups);
    /// The warp has read the mbarrier at this address.
    void wait_at(std::uint64_t barrier);
    // lines.cpp
    /// The words of a line that must be checked one by one.
    Cell *words_of(const Line &line, Space space);
    [[nodiscard]] bool is_of_lines(const WarpAccess &access) const;
    void mark_lines(const WarpAccess &access);
    [[nodiscard]] bool marks_at_once(rt::WatchSite &site, std::uint32_t mask,
                                     const LaneAddresses &addresses, const std::byte *values);
    template <class Each>
    void for_each_line(std::uint32_t bytes, bool writes, const LaneAddresses &addresses,
                       std::uint32_t mask, const AddressSpan &span, Space space, PlacesInLine &list,
                       Each each);
    [[nodiscard]] bool marks_line(const Mark &mark, const LinePart &now, const PlacesInLine &list,
                                  LineMarks &marks, Space space);
    [[nodiscard]] bool comes_before(const LineMarks &marks, unsigned number, const Mark &mark,
                                    const LinePart &now, const PlacesInLine &list) const;
    void mark_words(const WarpAccess &access, const Line &line, Space space, std::uint32_t lanes);
    [[nodiscard]] std::uint64_t window_of(Space space) const;
    /// Whether the marks belong to this run, or to a run that is ordered before it.
    [[nodiscard]] bool is_ours(std::uint32_t run, Space space);
    /// As LaunchChecks::unordered(), for the current warp.
    [[nodiscard]] std::shared_ptr<const Accessor> unordered(std::uint32_t run);
    /// Whether the launch may have begun before the one before it has ended, and the current warp
    /// has not waited for its end.
    [[nodiscard]] bool is_early() const {
        return launch_.begins_early() && !order_.knows(state_.warp_index, launch_.earlier_grid);
    }
    [[nodiscard]] std::uint32_t run_of(Space space) const;
    void begin(const WarpAccess &access, Cell &cell, Space space, const Mark &now,
               std::uint64_t address);
    void check_against_launch(const WarpAccess &access, const Cell &cell, const Accessor &other,
                              const Mark &now, std::uint64_t address);
    void check_transfers(const WarpAccess &access);
    [[nodiscard]] bool conflicts_with_transfer(const rt::WatchSite &site, const AddressSpan &span,
                                               std::uint32_t bytes);
    void report_unordered(const WarpAccess &access, Kind kind, std::uint32_t first_site,
                          std::uint32_t lane, FoundAccess first, std::uint64_t address);
    void check(const WarpAccess &access);
    void mark_words(const WarpAccess &access, const Line &line, Space space, std::uint32_t lane,
                    std::uint64_t offset, std::uint64_t bytes);
    void mark_bytes(const WarpAccess &access);
    void check_against(const WarpAccess &access, const Mark &before, std::uint32_t from,
                       bool several, Kind kind, Space space, std::uint32_t lane,
                       std::uint64_t address);
    [[nodiscard]] bool stores_the_same(const WarpAccess &access, std::uint32_t first,
                                       const Mark &before, std::uint32_t lane,
                                       std::uint64_t address) const;
    void synchronize(const WarpAccess &access);
    void acquire_pending_reads(std::uint32_t warp) {
        if (strong_reads_[warp].mask != 0)
            acquire_reads(warp);
    }
    void acquire_reads(std::uint32_t warp);

    // warp_sync.cpp
    void check_warp_sync(rt::WatchSite &site, std::uint32_t mask, const std::uint32_t *members,
                         const std::uint32_t *sources);
    void check_barrier(rt::WatchSite &site, std::uint32_t lanes);

    LaunchChecks &launch_;
    rt::WorkerState &state_;
    std::uint32_t block_;
    const bool only_orders_; ///< only the order of accesses is checked
    const bool finds_races_; ///< the mode race is on
    std::shared_ptr<Cluster> cluster_;
    BlockChecks *owner_ = this; ///< the block whose shared memory is being accessed
    BlockOrder order_;
    MarkedWindow shared_marks_;
    PhaseReads phase_reads_;
    MarkedMemory::Cursor cursor_;
    std::array<std::uint32_t, 16>
        arrived_{};                 ///< by barrier: the warps that wait there, one bit each
    std::uint32_t ordered_run_ = 0; ///< an earlier launch that is ordered before this one
    OpenRanges open_ranges_;
    WrittenWindow shared_written_, local_written_;
    static constexpr std::size_t kPieces = 16;
    std::array<MemoryMap::Piece, kPieces> pieces_;        ///< recently used pieces, by address
    std::array<rt::WatchSite *, kWarps> barrier_sites_{}; ///< the site of each warp's last barrier
    rt::WatchSite *last_barrier_ = nullptr;
    std::uint32_t noted_ = 0; ///< the site of the last note
    /// Where the first warp was that came to a barrier for the `number`th time.
    struct PhaseSite {
        std::uint32_t number = 0;
        const rt::WatchSite *site = nullptr;
    };
    std::array<PhaseSite, 2> phase_sites_{};
    std::array<std::uint32_t, kWarps> arrivals_{}; ///< by warp: at barriers
    bool met_apart_ = false;   ///< warps came to different barriers for the same time
    std::uint32_t live_ = ~0u; ///< the live lanes of the current warp, if lanes run independently
    bool stranded_ = false;

    /// By warp: the address of its last strong read.
    struct StrongRead {
        std::uint32_t mask = 0; ///< 0: none
        std::array<std::uint64_t, rt::kWarpSize> addresses;
    };
    std::vector<StrongRead> strong_reads_;

    /// Words that a warp's asynchronous copies write, until the warp has waited for the copies.
    struct PendingCopy {
        std::uint32_t group, site, lane;
        std::uint64_t word; ///< of the shared window
    };
    struct Copies {
        std::uint32_t group = 0; ///< the group to which new copies belong
        std::vector<PendingCopy> pending;
    };
    std::array<Copies, kWarps> copies_;

    /// Bytes that a bulk copy accesses, until a thread has waited for the copy.
    struct BulkAccess {
        std::uint32_t site, warp;
        Space space;
        std::uint64_t offset, bytes; ///< of the space
        bool reads;
        std::uint32_t clock = kUnderWay; ///< of the warp, at the arrival at the mbarrier
        std::uint64_t barrier = 0;       ///< 0: it ends with a group
        std::uint32_t group = 0;
        std::uint32_t block = 0;           ///< whose thread has started it
        const std::byte *window = nullptr; ///< the shared memory, if it is of shared memory
    };
    /// The blocks of a cluster, which run on one thread. Most clusters have one block.
    struct Cluster {
        explicit Cluster(std::uint32_t count) : order(count) {}
        ClusterOrder order;
        std::vector<BlockChecks *> blocks; ///< that have not ended
        std::vector<BulkAccess> bulk;
    };
    void end_access(const BulkAccess &access, std::uint32_t clock);
    std::array<std::uint32_t, kWarps> bulk_groups_{}; ///< by warp: the group of new bulk copies
};

} // namespace softcuda::check
