// launch_counts.cpp -- counters of blocks, and their sum.
#include "profile/launch_counts.h"

#include "profile/lane_accesses.h"

#include <algorithm>
#include <bit>
#include <new>

namespace softcuda::profile {
namespace {

constexpr unsigned kWordBytes = 4;

/// Local memory in a GPU's layout: word i of all lanes of a warp is contiguous (CUDA C++
/// Programming Guide, "Local Memory").
void interleave(std::array<std::uint64_t, kLanes> &addresses, std::uint32_t mask,
                std::uint64_t window, std::uint64_t per_thread) {
    for (; mask != 0; mask &= mask - 1) {
        std::uint64_t &address = addresses[static_cast<unsigned>(std::countr_zero(mask))];
        const std::uint64_t offset = address - window;
        const std::uint64_t thread = offset / per_thread, byte = offset % per_thread;
        const std::uint64_t warp = thread / kLanes, lane = thread % kLanes;
        address = warp * kLanes * per_thread + (byte / kWordBytes * kLanes + lane) * kWordBytes +
                  byte % kWordBytes;
    }
}

void count_lanes(AccessCounts &counts, const WarpAccess &access) {
    ++counts.requests;
    counts.lanes += static_cast<unsigned>(std::popcount(access.mask));
}

void count_stride(AccessCounts &counts, const WarpAccess &access) {
    const Stride &stride = access.stride;
    if (!stride.is_regular)
        return;
    if (counts.regular == 0)
        counts.stride = stride.bytes;
    counts.regular += stride.bytes == counts.stride;
}

void count_atomic(AccessCounts &counts, const WarpAccess &access) {
    counts.same_address +=
        static_cast<unsigned>(std::popcount(access.mask)) - count_addresses(access);
}

void count_global(AccessCounts &counts, const WarpAccess &access) {
    count_lanes(counts, access);
    count_stride(counts, access);
    counts.sectors += count_sectors(access);
    counts.ideal_sectors += ideal_sectors(access);
}

void count_shared(AccessCounts &counts, const WarpAccess &access) {
    count_lanes(counts, access);
    count_stride(counts, access);
    counts.wavefronts += count_wavefronts(access);
    counts.ideal_wavefronts += ideal_wavefronts(access);
}

// The words of a lane are 128 bytes apart, so each word is part of a separate request on a GPU.
void count_local(AccessCounts &counts, const WarpAccess &access) {
    count_lanes(counts, access);
    const std::uint32_t word = std::min(access.bytes, kWordBytes);
    std::array<std::uint64_t, kLanes> addresses;
    std::copy_n(access.addresses, kLanes, addresses.begin());
    for (std::uint32_t done = 0; done < access.bytes; done += word) {
        const WarpAccess part(addresses.data(), access.mask, word);
        counts.sectors += count_sectors(part);
        counts.ideal_sectors += ideal_sectors(part);
        for (std::uint64_t &address : addresses)
            address += std::uint64_t{kLanes} * kWordBytes;
    }
}

void count(AccessCounts &counts, Space space, const WarpAccess &access) {
    switch (space) {
    case Space::Global:
        return count_global(counts, access);
    case Space::Shared:
        return count_shared(counts, access);
    case Space::Local:
        return count_local(counts, access);
    }
}

} // namespace

void AccessCounts::operator+=(const AccessCounts &other) {
    requests += other.requests;
    lanes += other.lanes;
    sectors += other.sectors;
    ideal_sectors += other.ideal_sectors;
    wavefronts += other.wavefronts;
    ideal_wavefronts += other.ideal_wavefronts;
    same_address += other.same_address;
    if (regular == 0)
        stride = other.stride;
    regular += stride == other.stride ? other.regular : 0;
}

TableCounts::TableCounts(const rt::CountTable &counted)
    : table(&counted), lines(counted.line_count), accesses(counted.access_count) {}

void TableCounts::operator+=(const TableCounts &other) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        lines[i].warps += other.lines[i].warps;
        lines[i].lanes += other.lines[i].lanes;
    }
    for (std::size_t i = 0; i < accesses.size(); ++i)
        for (unsigned space = 0; space < kSpaces; ++space)
            accesses[i][space] += other.accesses[i][space];
}

void add_to(std::vector<TableCounts> &sum, const std::vector<TableCounts> &more) {
    for (const TableCounts &counts : more) {
        const auto same = std::ranges::find(sum, counts.table, &TableCounts::table);
        if (same == sum.end())
            sum.push_back(counts);
        else
            *same += counts;
    }
}

TableCounts *BlockCounts::find(const rt::CountTable &table) noexcept {
    const auto found = std::ranges::find(tables_, &table, &TableCounts::table);
    return found == tables_.end() ? nullptr : &*found;
}

rt::LineCounts *BlockCounts::lines_of(const rt::CountTable &table) noexcept try {
    static rt::LineCounts none; // of a function without lines
    TableCounts *counts = find(table);
    if (!counts)
        counts = &tables_.emplace_back(table);
    return counts->lines.empty() ? &none : counts->lines.data();
} catch (const std::bad_alloc &) {
    return nullptr;
}

BlockCounts::Lanes BlockCounts::split(rt::WatchSpace space, std::uint32_t mask,
                                      const std::uint64_t *addresses) const {
    Lanes lanes;
    const auto all_in = [&](Space where) {
        lanes.in[static_cast<unsigned>(where)] = mask;
        return lanes;
    };
    if (space == rt::WatchSpace::Global)
        return all_in(Space::Global);
    if (space == rt::WatchSpace::Shared)
        return all_in(Space::Shared);
    if (space == rt::WatchSpace::Local)
        return all_in(Space::Local);
    const auto shared = reinterpret_cast<std::uint64_t>(state_->shared);
    const auto local = reinterpret_cast<std::uint64_t>(state_->local);
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const std::uint64_t address = addresses[lane];
        const Space where = address - shared < windows_.shared ? Space::Shared
                            : address - local < windows_.local ? Space::Local
                                                               : Space::Global;
        lanes.in[static_cast<unsigned>(where)] |= 1u << lane;
    }
    return lanes;
}

void BlockCounts::access(const rt::CountTable &table, std::uint32_t number, std::uint32_t mask,
                         const std::uint64_t *addresses) noexcept {
    TableCounts *counts = mask != 0 ? find(table) : nullptr;
    if (!counts)
        return;
    const rt::CountedAccess &site = table.accesses[number];
    const Lanes lanes = split(site.space, mask, addresses);
    for (unsigned space = 0; space < kSpaces; ++space) {
        const std::uint32_t here = lanes.in[space];
        if (here == 0)
            continue;
        AccessCounts &sum = counts->accesses[number][space];
        std::array<std::uint64_t, kLanes> moved;
        const WarpAccess access(in_space(static_cast<Space>(space), here, addresses, moved), here,
                                site.bytes);
        count(sum, static_cast<Space>(space), access);
        if (site.kind == rt::WatchKind::Atomic)
            count_atomic(sum, access);
    }
}

/// The addresses as a GPU has them: from the beginning of shared memory, and local memory by lanes.
/// `moved` contains them if they differ from the host's.
const std::uint64_t *BlockCounts::in_space(Space space, std::uint32_t lanes,
                                           const std::uint64_t *addresses,
                                           std::array<std::uint64_t, kLanes> &moved) const {
    const auto shared = reinterpret_cast<std::uint64_t>(state_->shared);
    constexpr std::uint64_t kAllBanks = 128;
    if (space == Space::Global || (space == Space::Shared && shared % kAllBanks == 0))
        return addresses; // the same banks
    std::copy_n(addresses, kLanes, moved.begin());
    if (space == Space::Local)
        interleave(moved, lanes, reinterpret_cast<std::uint64_t>(state_->local),
                   windows_.local_per_thread);
    else
        for (std::uint64_t &address : moved)
            address -= shared;
    return moved.data();
}

rt::BlockCounter *LaunchCounts::begin(rt::WorkerState &state) noexcept try {
    std::lock_guard lock(mutex_);
    if (free_.empty()) {
        free_.reserve(all_.size() + 1); // so that end() needs no memory
        all_.push_back(std::make_unique<BlockCounts>(windows_));
        free_.push_back(all_.back().get());
    }
    BlockCounts *block = free_.back();
    free_.pop_back();
    block->attach(state);
    return block;
} catch (const std::bad_alloc &) {
    return nullptr;
}

void LaunchCounts::end(rt::BlockCounter *block) noexcept {
    std::lock_guard lock(mutex_);
    free_.push_back(static_cast<BlockCounts *>(block));
}

std::vector<TableCounts> LaunchCounts::sum() const {
    std::vector<TableCounts> sum;
    for (const auto &block : all_)
        add_to(sum, block->tables());
    return sum;
}

} // namespace softcuda::profile
