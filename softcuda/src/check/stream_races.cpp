// stream_races.cpp -- the latest launches and transfers, and questions about their order.
#include "check/stream_races.h"

#include "check/launch_checks.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace softcuda::check {
namespace {

constexpr std::size_t kMostLaunches = 65536, kMostRanges = 64;

struct Launches {
    std::mutex mutex;
    std::unordered_map<std::uint32_t, std::shared_ptr<const Accessor>> by_run;
    std::deque<std::uint32_t> oldest_first;
    std::array<std::shared_ptr<const Accessor>, CommandOrder::kStreams> by_stream;
};

Launches &launches() {
    static auto *const launches = new Launches;
    return *launches;
}

struct Ranges {
    std::mutex mutex;
    std::deque<Range> latest;
    std::atomic<std::uint64_t> changes{0};
};

Ranges &ranges() {
    static auto *const ranges = new Ranges;
    return *ranges;
}

bool is_unordered(const CommandOrder &one, const CommandOrder &other) {
    return !one.comes_after(other) && !other.comes_after(one);
}

bool overlap(const Range &range, std::uint64_t begin, std::uint64_t end) {
    return range.begin < end && begin < range.end;
}

void tell(bool first_writes, const Range &second, std::string kernel, FoundAccess first,
          std::uint64_t address, MemoryMap &memory) {
    Finding finding;
    finding.mode = Race;
    finding.kind = !second.writes ? Kind::ReadAfterWrite
                   : first_writes ? Kind::WriteAfterWrite
                                  : Kind::WriteAfterRead;
    finding.kernel = std::move(kernel);
    finding.space = "global";
    finding.array = memory.describe(address);
    finding.detail = kStreamsAreNotOrdered;
    finding.accesses = {std::move(first), access_of(second)};
    add(finding);
}

/// The first mark in the cell that the range is in conflict with.
const Mark *conflict(const Cell &cell, const Range &range) {
    if (cell.write.site != 0)
        return &cell.write;
    return range.writes && cell.read.site != 0 ? &cell.read : nullptr;
}

void check_against_launches(const Range &range, MemoryMap &memory) {
    bool is_reported = false;
    Memory::of_process().marks.for_each_cell(
        range.begin, range.end,
        [&](std::uint32_t run) { // of a page: whether to look at its cells
            const std::shared_ptr<const Accessor> launch = launch_of(run);
            return !is_reported && launch && is_unordered(launch->order, range.by->order);
        },
        [&](const Cell &cell, std::uint64_t address) {
            const Mark *mark = conflict(cell, range);
            const std::shared_ptr<const Accessor> launch = mark ? launch_of(cell.run) : nullptr;
            if (is_reported || !launch || !is_unordered(launch->order, range.by->order))
                return;
            is_reported = true; // one report for each transfer is enough
            tell(mark == &cell.write, range, launch->what,
                 access_of(mark->site, mark->block,
                           mark->warp * rt::kWarpSize + mark->lane(mark->bytes), kWordBytes,
                           launch->grid, launch->block),
                 address, memory);
        });
}

/// Finds words of the range that an unordered launch has read as memory that it does not write.
void check_against_reads(const Range &range, MemoryMap &memory) {
    const ReadWords &reads = Memory::of_process().reads;
    if (!range.writes || !CommandCounter::several_streams() || !reads.covers(range.begin) ||
        !reads.covers(range.end - 1))
        return;
    std::uint32_t ordered = 0;
    for (std::uint64_t at = range.begin, next = 0; at < range.end; at = next) {
        next = std::min(range.end, (at / kLineBytes + 1) * kLineBytes);
        const ReadWords::Read read = reads.at(at);
        if (read.run == ordered || (read.words & words_of_line(at, next)) == 0)
            continue;
        const std::shared_ptr<const Accessor> launch = launch_of(read.run);
        if (launch && is_unordered(launch->order, range.by->order))
            return tell(false, range, launch->what, access_of(read.reader, *launch), at, memory);
        ordered = read.run;
    }
}

} // namespace

FoundAccess access_of(const Reader &reader, const Accessor &launch) {
    return access_of(reader.site, reader.block, reader.warp * rt::kWarpSize + reader.lane,
                     kWordBytes, launch.grid, launch.block);
}

void remember(std::uint32_t run, std::shared_ptr<const Accessor> launch) {
    Launches &all = launches();
    std::lock_guard lock(all.mutex);
    all.by_stream[launch->order.stream()] = launch;
    all.by_run[run] = std::move(launch);
    all.oldest_first.push_back(run);
    if (all.oldest_first.size() <= kMostLaunches)
        return;
    all.by_run.erase(all.oldest_first.front());
    all.oldest_first.pop_front();
}

FoundAccess access_of(const Range &range) {
    FoundAccess access;
    access.what = range.by->what;
    access.by_command = true;
    access.bytes = range.end - range.begin;
    return access;
}

std::shared_ptr<const Accessor> latest_launch(std::uint32_t stream) {
    Launches &all = launches();
    std::lock_guard lock(all.mutex);
    return all.by_stream[stream];
}

std::shared_ptr<const Accessor> launch_of(std::uint32_t run) {
    Launches &all = launches();
    std::lock_guard lock(all.mutex);
    const auto found = all.by_run.find(run);
    return found == all.by_run.end() ? nullptr : found->second;
}

void OpenRanges::refresh(const CommandOrder &mine) {
    Ranges &all = ranges();
    std::lock_guard lock(all.mutex);
    seen_ = all.changes.load(std::memory_order_relaxed);
    ranges_.clear();
    for (const Range &range : all.latest)
        if (is_unordered(range.by->order, mine))
            ranges_.push_back(range);
}

const Range *OpenRanges::conflict(const CommandOrder &mine, std::uint64_t begin, std::uint64_t end,
                                  bool writes) {
    if (seen_ != ranges().changes.load(std::memory_order_relaxed))
        refresh(mine);
    for (const Range &range : ranges_)
        if ((writes || range.writes) && overlap(range, begin, end))
            return &range;
    return nullptr;
}

void check_transfer(std::span<const Range> mine, MemoryMap &memory) {
    Ranges &all = ranges();
    std::vector<Range> others;
    {
        std::lock_guard lock(all.mutex);
        others.assign(all.latest.begin(), all.latest.end());
        all.latest.insert(all.latest.end(), mine.begin(), mine.end());
        while (all.latest.size() > kMostRanges)
            all.latest.pop_front();
        ++all.changes;
    }
    for (const Range &range : mine) {
        for (const Range &other : others)
            if ((range.writes || other.writes) && overlap(other, range.begin, range.end) &&
                is_unordered(other.by->order, range.by->order)) {
                tell(other.writes, range, "", access_of(other), range.begin, memory);
                break;
            }
        check_against_launches(range, memory);
        check_against_reads(range, memory);
    }
}

void forget_accesses(std::uint64_t address, std::uint64_t bytes) {
    Memory::of_process().marks.clear(address, bytes);
    Memory::of_process().reads.clear(address, bytes);
    Ranges &all = ranges();
    std::lock_guard lock(all.mutex);
    ++all.changes;
    std::erase_if(all.latest,
                  [&](const Range &range) { return overlap(range, address, address + bytes); });
}

} // namespace softcuda::check
