// phase_reads.h -- reads of shared memory in a phase where nobody has written yet.
#pragma once

#include "check/lane_addresses.h"
#include "rt/watch_abi.h"

#include <algorithm>
#include <array>
#include <vector>

namespace softcuda::check {

/// What the warps of a block have read since all of them met at a barrier. Such reads need no check
/// before somebody writes: most phases of a kernel either write a tile or read one.
class PhaseReads {
  public:
    struct Read {
        rt::WatchSite *site;
        std::uint32_t mask, warp, clock;
        LaneAddresses addresses;
    };

    /// A phase begins: earlier reads come before all of it.
    void begin() {
        forget();
        only_reads_ = true;
    }
    /// Somebody writes.
    void end() {
        forget();
        only_reads_ = false;
    }
    /// Nobody has written in this phase.
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
