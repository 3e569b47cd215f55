// races.cpp -- races: two unordered accesses to the same memory.
#include "check/block_checks.h"

#include "support/bulk_copy.h"
#include "support/fence.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace softcuda::check {

using rt::WatchKind;

namespace {

std::uint32_t lanes_at(const std::uint64_t *addresses, std::uint32_t mask, std::uint64_t address) {
    std::uint32_t lanes = 0;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        lanes |= std::uint32_t{addresses[lane] == address} << lane;
    }
    return lanes;
}

} // namespace

// A strong read of a synchronisation variable acquires: later accesses are ordered after it. A
// strong write releases the accesses before the last fence. Accesses that are not strong do
// neither.
void BlockChecks::synchronize(const WarpAccess &access) {
    const std::uint32_t warp = access.warp;
    if (access.site.release)
        order_.fence(warp, access.site.scope);
    if (access.site.kind != WatchKind::Store) {
        StrongRead &read = strong_reads_[warp];
        read.mask = access.mask;
        for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
            read.addresses[lane] = access.addresses[lane];
        }
    }
    if (access.site.kind == WatchKind::Load ||
        !order_.may_release(warp, access.space != Space::Shared || has_peers()))
        return;
    std::uint64_t last = 0; // lanes often go to one place
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
        const std::uint64_t address =
            access.addresses[static_cast<std::uint32_t>(std::countr_zero(left))];
        if (address != last)
            order_.release(warp, address);
        last = address;
    }
}

// The value of a strong read is known at its end: a write in between counts, too.
void BlockChecks::acquire_reads(std::uint32_t warp) {
    StrongRead &read = strong_reads_[warp];
    // The release of a value that the kernel has seen must be visible.
    acquire_fence();
    for (std::uint32_t left = order_.may_acquire() ? read.mask : 0; left != 0;) {
        const std::uint64_t address = read.addresses[std::countr_zero(left)];
        const std::uint32_t lanes = lanes_at(read.addresses.data(), left, address);
        order_.acquire(warp, address, lanes);
        if (!cluster_->bulk.empty())
            wait_at(address);
        left &= ~lanes;
    }
    read.mask = 0;
}

void BlockChecks::check_races(const WarpAccess &access) {
    if (access.site.strong)
        synchronize(access);
    check_transfers(access);
    check_unwritten_reads(access);
    const bool may_write_shared = access.site.kind != WatchKind::Load &&
                                  access.space.value_or(Space::Shared) == Space::Shared;
    if (may_write_shared && phase_reads_.only_reads())
        mark_kept_reads();
    mark(access);
}

bool BlockChecks::keeps_read(rt::WatchSite &site, std::uint32_t mask,
                             const LaneAddresses &addresses) {
    const std::uint32_t warp = state_.warp_index;
    if (site.space != rt::WatchSpace::Shared || site.kind != WatchKind::Load || site.strong ||
        site.async || has_peers() || !phase_reads_.only_reads() ||
        !(launch_.modes & (Race | Sync)) || (launch_.modes & (Mem | Init)) ||
        strong_reads_[warp].mask != 0)
        return false;
    if (phase_reads_.is_full()) {
        mark_kept_reads();
        return false;
    }
    phase_reads_.add({&site, mask, warp, order_.clock(warp), addresses});
    return true;
}

// Nobody has written, so nothing is wrong with them.
void BlockChecks::mark_kept_reads() {
    phase_reads_.for_each([&](const PhaseReads::Read &read) {
        mark(warp_access(*read.site, read.mask, read.addresses, nullptr, read.warp, read.clock));
    });
    phase_reads_.end();
}

void BlockChecks::mark(const WarpAccess &access) {
    if (access.space == Space::Local)
        return;
    if (is_of_lines(access))
        mark_lines(access);
    else
        mark_bytes(access);
    cursor_.release();
}

void BlockChecks::mark_bytes(const WarpAccess &access) {
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const Place place = place_of(access, access.addresses[lane]);
        const std::uint64_t end = place.offset + access.bytes;
        if (place.space == Space::Local)
            continue;
        for (std::uint64_t at = place.offset; at < end;) {
            const std::uint64_t next = std::min(end, (at / kLineBytes + 1) * kLineBytes);
            MarkedWindow &shared = owner_->shared_marks_;
            if (place.space == Space::Global || shared.holds(at)) {
                const Line line = place.space == Space::Global ? cursor_.line(at) : shared.line(at);
                mark_words(access, line, place.space, lane, at, next - at);
            }
            at = next;
        }
    }
}

/// The part of a line that a lane accesses, from the byte at `offset` of the space on.
void BlockChecks::mark_words(const WarpAccess &access, const Line &line, Space space,
                             std::uint32_t lane, std::uint64_t offset, std::uint64_t bytes) {
    Cell *cells = words_of(line, space);
    for_each_word(offset, bytes, [&](std::uint64_t at, std::uint32_t of_word) {
        check_word(access, cells[at / kWordBytes % kLineWords], space, lane, of_word,
                   window_of(space) + at);
    });
}

void BlockChecks::check_word(const WarpAccess &access, Cell &cell, Space space, std::uint32_t lane,
                             std::uint32_t bytes, std::uint64_t address) {
    Mark now = access.mark;
    if (access.under_way)
        now.clock = kUnderWay;
    now.add(lane, bytes);
    // Atomics of one block do not race if there is no read.
    if (now.atomic && cell.run == run_of(space) && cell.write.atomic &&
        cell.write.block == block_ && cell.write.bytes == bytes && cell.read.site == 0 &&
        cell.other_read.site == 0) {
        cell.write = now;
        return;
    }
    begin(access, cell, space, now, address);
    mark_word(access, cell, space, now, address);
}

/// Clears the word's marks of another launch, or in shared memory of another block. Marks of
/// another launch are cleared only if it is ordered before this one.
void BlockChecks::begin(const WarpAccess &access, Cell &cell, Space space, const Mark &now,
                        std::uint64_t address) {
    const std::uint32_t run = run_of(space);
    if (cell.run == run)
        return;
    if (!is_ours(cell.run, space))
        if (const std::shared_ptr<const Accessor> other = unordered(cell.run))
            check_against_launch(access, cell, *other, now, address);
    cell.begin(run);
}

void BlockChecks::check_against_launch(const WarpAccess &access, const Cell &cell,
                                       const Accessor &other, const Mark &now,
                                       std::uint64_t address) {
    constexpr auto kDevice = static_cast<std::uint32_t>(rt::WatchScope::Device);
    const bool loads = access.site.kind == WatchKind::Load;
    for (const Mark *before : {&cell.write, &cell.other_write, &cell.read, &cell.other_read}) {
        const bool wrote = before == &cell.write || before == &cell.other_write;
        if (before->site == 0 || (before->bytes & now.bytes) == 0 || (loads && !wrote))
            continue;
        if (before->strong && now.strong && before->scope == kDevice && now.scope == kDevice)
            return launch_.learn(cell.run); // this is how threads wait for each other
        const std::uint32_t common = before->bytes & now.bytes, lane = now.lane(common);
        if (wrote && !loads &&
            stores_the_same(access, before->lane(common), *before, lane, address))
            continue;
        const Kind kind = loads   ? Kind::ReadAfterWrite
                          : wrote ? Kind::WriteAfterWrite
                                  : Kind::WriteAfterRead;
        if (launch_.is_known(kind, before->site, access.number))
            continue;
        FoundAccess first = access_of(before->site, before->block,
                                      before->warp * rt::kWarpSize + before->lane(common),
                                      access.bytes, other.grid, other.block);
        if (other.what != launch_.kernel)
            first.kernel = other.what;
        report_unordered(access, kind, before->site, lane, std::move(first), address);
    }
}

std::shared_ptr<const Accessor> BlockChecks::unordered(std::uint32_t run) {
    return launch_.unordered(run, is_early());
}

void BlockChecks::wait_for_earlier_grid() {
    if (launch_.modes & Race)
        order_.know(state_.warp_index, launch_.earlier_grid);
}

void BlockChecks::launch_dependents() {
    if (launch_.modes & Race)
        launch_.launch_dependents(is_early());
}

/// Races with copies and fills of other streams, for the range of all lanes' addresses.
bool BlockChecks::conflicts_with_transfer(const rt::WatchSite &site, const AddressSpan &span,
                                          std::uint32_t bytes) {
    const Accessor *mine = CommandCounter::several_streams() ? launch_.accessor() : nullptr;
    return mine && open_ranges_.conflict(mine->order, span.first, span.last + bytes,
                                         site.kind != WatchKind::Load);
}

void BlockChecks::check_transfers(const WarpAccess &access) {
    if (access.space != Space::Global ||
        !conflicts_with_transfer(access.site, access.span, access.bytes))
        return;
    const Accessor *mine = launch_.accessor();
    const bool writes = access.site.kind != WatchKind::Load;
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t address = access.addresses[lane];
        const Range *other =
            open_ranges_.conflict(mine->order, address, address + access.bytes, writes);
        const Kind kind = !writes                  ? Kind::ReadAfterWrite
                          : other && other->writes ? Kind::WriteAfterWrite
                                                   : Kind::WriteAfterRead;
        if (!other || launch_.is_known(kind, access.number, 0))
            continue;
        report_unordered(access, kind, access.number, lane, access_of(*other), address);
    }
}

void BlockChecks::report_unordered(const WarpAccess &access, Kind kind, std::uint32_t first_site,
                                   std::uint32_t lane, FoundAccess first, std::uint64_t address) {
    Finding finding;
    finding.mode = Race;
    finding.space = "global";
    finding.array = launch_.memory.describe(address);
    finding.detail = is_early() ? kLaunchesOverlap : kStreamsAreNotOrdered;
    const std::uint32_t second_site = first.by_command ? 0 : access.number;
    finding.accesses = {std::move(first), found(access, lane)};
    launch_.tell(kind, first_site, second_site, finding);
}

void BlockChecks::mark_word(const WarpAccess &access, Cell &cell, Space space, Mark now,
                            std::uint64_t address) {
    const rt::WatchSite &site = access.site;
    const std::uint32_t bytes = now.bytes, lane = now.lane(bytes);
    // Not called either if the order is obvious, which is the most common case.
    const auto meets = [&](const Mark &before) {
        return before.site != 0 && (before.bytes & bytes) != 0 &&
               !(before.block == block_ &&
                 order_.known_to_all_lanes(access.warp, before.warp, before.clock));
    };
    const auto check = [&](const Mark &before, Kind kind) {
        if (!meets(before))
            return;
        // Bytes of a word may be of several lanes.
        for (std::uint32_t left = before.bytes & bytes; left != 0;) {
            const std::uint32_t alike = before.alike(left);
            check_against(access, before, before.lane(left), (before.several & alike) != 0, kind,
                          space, lane, address);
            left &= ~alike;
        }
    };
    if (site.kind == WatchKind::Load) {
        check(cell.write, Kind::ReadAfterWrite);
        check(cell.other_write, Kind::ReadAfterWrite);
        Mark &read = cell.read;
        if (read.site != 0 && read.is_of_step(now)) {
            read.site = now.site;
            read.add(lane, bytes);
        } else {
            const bool again = read.block == now.block && read.warp == now.warp;
            if (read.site != 0 && (!again || (read.bytes & ~bytes) != 0))
                cell.other_read = read;
            read = now;
        }
        return;
    }
    check(cell.write, Kind::WriteAfterWrite);
    check(cell.other_write, Kind::WriteAfterWrite);
    check(cell.read, Kind::WriteAfterRead);
    check(cell.other_read, Kind::WriteAfterRead);
    if (site.async && space == Space::Shared) {
        Copies &copies = copies_[access.warp];
        now.clock = kUnderWay;
        copies.pending.push_back(
            {copies.group, access.number, lane,
             (address - reinterpret_cast<std::uint64_t>(state_.shared)) / kWordBytes});
    }
    cell.add_write(now);
}

void BlockChecks::wait_for_copies(std::uint32_t groups_left) {
    if (groups_left != ~0u && (groups_left & kBulkGroups) != 0)
        return wait_for_bulk_copies(groups_left);
    Copies &copies = copies_[state_.warp_index];
    if (groups_left == ~0u) {
        ++copies.group;
        return;
    }
    const std::uint32_t clock = order_.clock(state_.warp_index);
    std::erase_if(copies.pending, [&](const PendingCopy &copy) {
        if (copies.group - copy.group <= groups_left)
            return false;
        const Line line = shared_marks_.line(copy.word * kWordBytes);
        Mark &mark = words_of(line, Space::Shared)[copy.word % kLineWords].write;
        if (mark.site == copy.site && mark.clock == kUnderWay && mark.lane(1) == copy.lane)
            mark.clock = clock;
        return true;
    });
}

/// As `first` did, a lane of those of `before`.
bool BlockChecks::stores_the_same(const WarpAccess &access, std::uint32_t first, const Mark &before,
                                  std::uint32_t lane, std::uint64_t address) const {
    const rt::WatchSite &site = access.site;
    if (!access.values)
        return false;
    const bool one_instruction = before.block == block_ && before.warp == access.warp &&
                                 before.site == access.number && (access.mask >> first & 1) != 0 &&
                                 first < lane;
    const std::uint64_t from = address - access.addresses[lane];
    for (std::uint64_t byte = from / kWordBytes * kWordBytes;
         byte < std::min<std::uint64_t>(from / kWordBytes * kWordBytes + kWordBytes, access.bytes);
         ++byte) {
        const std::uint64_t element = byte / site.bytes, within = byte % site.bytes;
        const auto value_of = [&](std::uint32_t of) {
            return access.values[(element * rt::kWarpSize + of) * site.bytes + within];
        };
        const std::byte there =
            one_instruction ? value_of(first)
                            : *reinterpret_cast<const std::byte *>(access.addresses[lane] + byte);
        if (value_of(lane) != there)
            return false;
    }
    return true;
}

/// `from` is the lane that `before` is of; `several`: or another one.
void BlockChecks::check_against(const WarpAccess &access, const Mark &before, std::uint32_t from,
                                bool several, Kind kind, Space space, std::uint32_t lane,
                                std::uint64_t address) {
    const rt::WatchSite &site = access.site;
    const ThreadId first{before.block, before.warp, from};
    const ThreadId second{block_, access.warp, lane};
    const bool one_warp = first.block == second.block && first.warp == second.warp;
    // Several lanes have read, so one of them is another lane.
    ThreadId other = first;
    if (one_warp && several && first.lane == second.lane)
        other.lane = (second.lane + 1) % rt::kWarpSize;
    if (order_.ordered(other, before.clock, second))
        return;
    const bool atomic = site.kind == WatchKind::Atomic;
    const bool both = reaches(first.block, before.scope) &&
                      reaches(first.block, static_cast<std::uint32_t>(site.scope));
    if (before.atomic && atomic && both)
        return;
    // Volatile accesses of several warps are how they wait for each other; within a warp they only
    // keep the order in which the compiler writes them. Other strong accesses have a memory order.
    if (before.strong && site.strong && both && !(one_warp && !before.scoped && !site.scoped))
        return;
    if (kind == Kind::WriteAfterWrite && stores_the_same(access, from, before, lane, address))
        return;
    if (before.atomic != atomic)
        kind = Kind::AtomicAndPlain;
    const bool relies_on_lock_step = one_warp && !(launch_.modes & Race);
    if (!(launch_.modes & Race) && !relies_on_lock_step)
        return;
    if (relies_on_lock_step)
        kind = Kind::MissingSyncwarp;
    if (launch_.is_known(kind, before.site, access.number))
        return;
    Finding finding;
    finding.mode = relies_on_lock_step ? Sync : Race;
    finding.space = space == Space::Shared ? "shared" : "global";
    finding.array =
        space == Space::Shared ? variable_of(access.number) : launch_.memory.describe(address);
    finding.detail = one_warp ? "both are lanes of one warp: only __syncwarp() orders them"
                     : first.block == second.block ? "no barrier or fence with a flag orders them"
                     : is_in_cluster(first.block)
                         ? "no barrier of the cluster or fence with a flag orders them"
                         : "no fence with a flag orders the two blocks";
    FoundAccess one =
        launch_.access(before.site, before.block, before.warp * rt::kWarpSize + from, access.bytes);
    finding.accesses = {std::move(one), found(access, lane)};
    launch_.tell(kind, before.site, access.number, finding);
}

} // namespace softcuda::check
