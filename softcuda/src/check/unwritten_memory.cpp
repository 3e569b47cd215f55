// unwritten_memory.cpp -- the allocations of parameters, and the lines of the words that were read.
#include "check/unwritten_memory.h"

#include "check/launch_checks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <sys/mman.h>

namespace softcuda::check {

std::uint64_t UnwrittenMemory::pointer(std::uint32_t slot) const {
    std::uint64_t value = 0;
    std::memcpy(&value, frame_.params + std::uint64_t{slot} * sizeof value, sizeof value);
    return value;
}

// A null pointer is one that the launch does not use.
Addresses UnwrittenMemory::compute(const rt::WatchSite &site) const {
    const std::optional<MemoryMap::Piece> read = memory_.find(pointer(site.read_slot - 1));
    if (!read || !read->stays)
        return {};
    for (std::uint64_t left = site.written_slots; left != 0; left &= left - 1) {
        const std::uint64_t to = pointer(static_cast<std::uint32_t>(std::countr_zero(left)));
        const std::optional<MemoryMap::Piece> written =
            to != 0 ? memory_.find(to) : MemoryMap::Piece{};
        if (!written || (written->begin < read->end && read->begin < written->end))
            return {};
    }
    return {read->begin, read->end};
}

void UnwrittenMemory::find(const rt::WatchSite &site, Slot &slot) {
    std::lock_guard lock(mutex_);
    if (slot.known.load(std::memory_order_relaxed))
        return;
    slot.memory = compute(site);
    slot.known.store(true, std::memory_order_release);
}

// Without it, all reads are checked as accesses to memory that the launch may write.
void ReadWords::cover(std::uint64_t begin, std::uint64_t bytes) noexcept try {
    std::lock_guard lock(mutex_);
    if (range_)
        return;
    const std::uint64_t size = rt::round_up(bytes / kLine * sizeof(Line), rt::page_size());
    auto range = std::make_unique<rt::ReservedRange>(size);
    if (!range->open(range->begin(), size))
        return;
    begin_ = begin;
    lines_ = range->begin();
    range_.store(range.release(), std::memory_order_release);
} catch (const std::bad_alloc &) { // then it covers nothing
}

void ReadWords::add_new(Line &line, std::uint32_t words, std::uint32_t run, const Reader &reader) {
    std::uint64_t now = line.words.load(std::memory_order_relaxed);
    for (;;) {
        const bool mine = now >> 32 == run;
        const std::uint64_t next =
            std::uint64_t{run} << 32 | words | (mine ? static_cast<std::uint32_t>(now) : 0);
        if (!line.words.compare_exchange_weak(now, next, std::memory_order_relaxed))
            continue;
        if (!mine)
            line.reader.store(std::uint64_t{reader.block} << 32 | reader.site << 10 |
                                  reader.warp << 5 | reader.lane,
                              std::memory_order_relaxed);
        return;
    }
}

ReadWords::Read ReadWords::at(std::uint64_t address) const {
    const Line &line = line_of(address);
    const std::uint64_t words = line.words.load(std::memory_order_relaxed);
    const std::uint64_t reader = line.reader.load(std::memory_order_relaxed);
    const auto low = static_cast<std::uint32_t>(reader);
    return {.run = static_cast<std::uint32_t>(words >> 32),
            .words = static_cast<std::uint32_t>(words),
            .reader = {.block = static_cast<std::uint32_t>(reader >> 32),
                       .site = low >> 10,
                       .warp = low >> 5 & 31,
                       .lane = low & 31}};
}

void ReadWords::clear(std::uint64_t begin, std::uint64_t bytes) {
    if (bytes == 0 || !covers(begin) || !covers(begin + bytes - 1))
        return;
    const std::uint64_t end = begin + bytes;
    const auto clear_part = [&](std::uint64_t from, std::uint64_t to) { // of one line
        std::uint32_t words = 0;
        for (std::uint64_t word = from / 4; word * 4 < to; ++word)
            words |= 1u << word % 32;
        line_of(from).words.fetch_and(~std::uint64_t{words}, std::memory_order_relaxed);
    };
    const std::uint64_t first = rt::round_up(begin, kLine), last = end / kLine * kLine;
    if (first > last)
        return clear_part(begin, end);
    if (begin != first)
        clear_part(begin, first);
    if (end != last)
        clear_part(last, end);
    const auto from = reinterpret_cast<std::uint64_t>(&line_of(first));
    const auto to = from + (last - first) / kLine * sizeof(Line);
    const std::uint64_t page = rt::page_size();
    const std::uint64_t pages = std::min(rt::round_up(from, page), to);
    const std::uint64_t pages_end = std::max(to / page * page, pages);
    std::memset(reinterpret_cast<void *>(from), 0, pages - from);
    if (pages_end != pages &&
        madvise(reinterpret_cast<void *>(pages), pages_end - pages, MADV_DONTNEED) != 0)
        std::memset(reinterpret_cast<void *>(pages), 0, pages_end - pages);
    std::memset(reinterpret_cast<void *>(pages_end), 0, to - pages_end);
}

} // namespace softcuda::check
