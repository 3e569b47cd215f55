// phase_reads.h -- reads of shared memory in a phase without a write so far.
#pragma once

#include "check/lane_addresses.h"
#include "rt/watch_abi.h"

#include <algorithm>
#include <array>
#include <vector>

namespace softcuda::check {

/// The reads of a block's warps since the last barrier of the block. Such reads need no check until
/// a write follows; most phases of a kernel either write a tile or read one.
class PhaseReads {
  public:
    struct Read {
        rt::WatchSite *site;
        std::uint32_t mask, warp, clock;
        LaneAddresses addresses;
    };

    /// Begins a phase: earlier reads are ordered before all of its accesses.
    void begin() {
        forget();
        only_reads_ = true;
    }
    /// Records a write.
    void end() {
        forget();
        only_reads_ = false;
    }
    /// Whether the phase has no write yet.
    [[nodiscard]] bool only_reads() const { return only_reads_; }
    [[nodiscard]] bool is_full() const { return reads_.size() >= kMost; }
    /// Throws std::bad_alloc.
    void add(Read read) {
        reads_.push_back(read);
        if (read.addresses.list()) {
            auto &list = lists_.emplace_back();
            std::copy_n(read.addresses.list(), list.size(), list.begin());
        }
    }
    /// Calls each(read), in the order of add().
    template <class Each> void for_each(Each each) const {
        auto list = lists_.begin();
        for (Read read : reads_) {
            if (read.addresses.list())
                read.addresses = LaneAddresses((list++)->data());
            each(read);
        }
    }

  private:
    static constexpr std::size_t kMost = 4096;
    void forget() {
        reads_.clear();
        lists_.clear();
    }

    bool only_reads_ = true;
    std::vector<Read> reads_;
    std::vector<std::array<std::uint64_t, rt::kWarpSize>> lists_;
};

} // namespace softcuda::check
