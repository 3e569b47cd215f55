// unwritten_memory.h -- reads of memory that a launch does not write.
//
// A kernel whose parameters are pointers to different allocations often only reads some of them:
// the pointers through which it writes are known (rt::WatchSite::written_slots). Such reads cannot
// race within the launch. For races with commands of other streams, a line of 128 bytes records the
// words that the latest launch has read, and the first thread that has.
#pragma once

#include "rt/kernel_abi.h"
#include "rt/reserved_range.h"
#include "rt/watch_abi.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace softcuda::check {

class MemoryMap;

/// A range of memory; empty if there is none.
struct Addresses {
    std::uint64_t begin = 0, end = 0;
    [[nodiscard]] bool holds(std::uint64_t first, std::uint64_t behind) const {
        return begin <= first && behind <= end;
    }
};

/// The allocations that one launch does not write, by the slot of the pointer. Any thread.
class UnwrittenMemory {
  public:
    UnwrittenMemory(const rt::LaunchFrame &frame, MemoryMap &memory)
        : frame_(frame), memory_(memory) {}
    /// The allocation that the site reads. Empty if the launch may write it.
    [[nodiscard]] Addresses of(const rt::WatchSite &site) {
        if (site.read_slot == 0)
            return {};
        Slot &slot = slots_[site.read_slot - 1];
        if (!slot.known.load(std::memory_order_acquire))
            find(site, slot);
        return slot.memory;
    }

  private:
    struct Slot {
        std::atomic<bool> known{false};
        Addresses memory;
    };
    void find(const rt::WatchSite &site, Slot &slot);
    [[nodiscard]] Addresses compute(const rt::WatchSite &site) const;
    [[nodiscard]] std::uint64_t pointer(std::uint32_t slot) const;

    const rt::LaunchFrame &frame_;
    MemoryMap &memory_;
    std::mutex mutex_;
    std::array<Slot, 63> slots_;
};

/// A thread that has read.
struct Reader {
    std::uint32_t block = 0, site = 0, warp = 0, lane = 0;
};

/// For each line of device memory: the words that the latest launch has read. Any thread.
class ReadWords {
  public:
    /// Sets the range of device memory; later calls do nothing. Covers nothing if there are not
    /// enough addresses.
    void cover(std::uint64_t begin, std::uint64_t bytes) noexcept;
    [[nodiscard]] bool covers(std::uint64_t address) const {
        const rt::ReservedRange *range = range_.load(std::memory_order_acquire);
        return range && (address - begin_) / kLine * sizeof(Line) < range->size();
    }

    /// As rt::ReadRecord::entries.
    [[nodiscard]] std::uint64_t entries() const {
        return reinterpret_cast<std::uint64_t>(lines_) - begin_ / kLine * sizeof(Line);
    }
    /// The entry of a line of which the launch has read all words.
    [[nodiscard]] static std::uint64_t whole_line(std::uint32_t run) {
        return std::uint64_t{run} << 32 | 0xffffffff;
    }

    /// Words of a line, which covers() its address: the launch `run` reads them.
    void add(std::uint64_t address, std::uint32_t words, std::uint32_t run, const Reader &reader) {
        Line &line = line_of(address);
        const std::uint64_t now = line.words.load(std::memory_order_relaxed);
        if (now >> 32 != run || (words & ~static_cast<std::uint32_t>(now)) != 0)
            add_new(line, words, run, reader);
    }

    struct Read {
        std::uint32_t run = 0, words = 0;
        Reader reader;
    };
    [[nodiscard]] Read at(std::uint64_t address) const;
    /// Forgets the reads of a range.
    void clear(std::uint64_t begin, std::uint64_t bytes);

  private:
    static constexpr std::uint64_t kLine = 128;
    struct Line {
        std::atomic<std::uint64_t> words, reader; ///< as in rt::ReadEntry
    };
    static_assert(sizeof(Line) == sizeof(rt::ReadEntry));
    [[nodiscard]] Line &line_of(std::uint64_t address) const {
        return reinterpret_cast<Line *>(lines_)[(address - begin_) / kLine];
    }
    static void add_new(Line &line, std::uint32_t words, std::uint32_t run, const Reader &reader);

    std::mutex mutex_; ///< of cover()
    std::uint64_t begin_ = 0;
    std::byte *lines_ = nullptr;
    std::atomic<rt::ReservedRange *> range_{nullptr}; ///< for ever
};

} // namespace softcuda::check
