// block_checks.cpp -- passes the events of a block to the enabled checks.
#include "check/block_checks.h"

#include <algorithm>
#include <bit>

namespace softcuda::check {

using rt::WatchKind;
using rt::WatchScope;
using rt::WatchSite;
using rt::WatchSpace;

namespace {

std::uint64_t address_of(const std::byte *pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

std::uint32_t threads_of(const rt::LaunchFrame &frame) {
    return frame.block[0] * frame.block[1] * frame.block[2];
}

std::uint32_t warps_of(const rt::LaunchFrame &frame) {
    return (threads_of(frame) + rt::kWarpSize - 1) / rt::kWarpSize;
}

/// Whether the enabled checks need the order of accesses.
bool orders(const LaunchChecks &launch) { return (launch.modes & (Race | Sync)) != 0; }

} // namespace

BlockChecks::BlockChecks(LaunchChecks &launch, rt::WorkerState &state)
    : launch_(launch), state_(state), block_(static_cast<std::uint32_t>(state.block_index)),
      only_orders_(orders(launch) && !(launch.modes & (Mem | Init))),
      finds_races_((launch.modes & Race) != 0), cluster_(find_cluster()),
      order_(block_, orders(launch) ? warps_of(launch.frame) : 0, launch.places, cluster_->order),
      cursor_(Memory::of_process().marks, launch.run) {
    if (orders(launch)) {
        shared_marks_ = launch.take_marks();
        shared_marks_.begin_run();
        strong_reads_.resize(warps_of(launch.frame));
    }
    cluster_->blocks.push_back(this);
    forget_windows();
}

void BlockChecks::forget_windows() {
    if (!(launch_.modes & Init))
        return;
    shared_written_.reset(launch_.shared_bytes);
    local_written_.reset(launch_.local_bytes);
}

void BlockChecks::begin_block() {
    block_ = static_cast<std::uint32_t>(state_.block_index);
    forget_windows();
    if (!orders(launch_))
        return;
    order_.restart(block_);
    phase_reads_.begin();
    shared_marks_.begin_run();
    arrived_ = {};
    phase_sites_ = {};
    arrivals_ = {};
    met_apart_ = false;
    for (StrongRead &read : strong_reads_)
        read.mask = 0;
    for (Copies &copies : copies_)
        copies = {};
    cluster_->bulk.clear();
    bulk_groups_ = {};
}

std::optional<BlockChecks::Space> BlockChecks::space_of(const WarpAccess &access) const {
    switch (access.site.space) {
    case WatchSpace::Shared:
        return Space::Shared;
    case WatchSpace::Local:
        return Space::Local;
    case WatchSpace::Global:
        return Space::Global;
    case WatchSpace::Generic:
        break;
    }
    const Space first = place_of(access, access.span.first).space;
    const Space last = place_of(access, access.span.last).space;
    return first == last ? std::optional(first) : std::nullopt;
}

BlockChecks::~BlockChecks() {
    std::erase(cluster_->blocks, this);
    if (orders(launch_))
        launch_.give_back(std::move(shared_marks_));
}

BlockChecks::Place BlockChecks::place_of(const WarpAccess &access, std::uint64_t address) const {
    const std::uint64_t shared = address - address_of(owner_->state_.shared);
    const std::uint64_t local = address - address_of(state_.local);
    switch (access.site.space) {
    case WatchSpace::Shared:
        return {Space::Shared, shared};
    case WatchSpace::Local:
        return {Space::Local, local};
    case WatchSpace::Global:
        return {Space::Global, address};
    case WatchSpace::Generic:
        break;
    }
    if (shared < launch_.shared_bytes)
        return {Space::Shared, shared};
    if (local < launch_.local_bytes)
        return {Space::Local, local};
    return {Space::Global, address};
}

std::uint32_t BlockChecks::lanes_of_warp() const {
    const std::uint32_t first = state_.warp_index * rt::kWarpSize;
    const std::uint32_t count = std::min(threads_of(launch_.frame) - first, rt::kWarpSize);
    return count == rt::kWarpSize ? ~0u : (1u << count) - 1;
}

std::uint32_t BlockChecks::thread(std::uint32_t lane) const {
    return state_.warp_index * rt::kWarpSize + lane;
}

FoundAccess BlockChecks::found(const WarpAccess &access, std::uint32_t lane) const {
    return launch_.access(access.number, block_, thread(lane), access.bytes);
}

BlockChecks::WarpAccess BlockChecks::warp_access(WatchSite &site, std::uint32_t mask,
                                                 const LaneAddresses &addresses,
                                                 const std::byte *values, std::uint32_t warp,
                                                 std::uint32_t clock) const {
    WarpAccess access{.site = site,
                      .number = number_of(site),
                      .mask = mask,
                      .addresses = addresses,
                      .values = values,
                      .bytes = site.bytes * site.count,
                      .aligns = std::has_single_bit(site.bytes * site.count),
                      .span = addresses.span(mask),
                      .warp = warp,
                      .space = {},
                      .mark = {}};
    access.space = space_of(access);
    access.mark = mark_of(site, access.number, warp, clock);
    return access;
}

template <class Each>
void BlockChecks::for_each_owner(const WatchSite &site, std::uint32_t mask,
                                 const LaneAddresses &addresses, Each each) {
    if (mask == 0)
        return;
    if (site.space != WatchSpace::Generic || !has_peers())
        return each(mask);
    const std::uint64_t bytes = std::uint64_t{site.bytes} * site.count;
    while (mask != 0) {
        BlockChecks *const owner =
            owner_of(addresses[static_cast<std::uint32_t>(std::countr_zero(mask))], bytes);
        std::uint32_t lanes = 0;
        for (std::uint32_t left = mask; left != 0; left &= left - 1)
            if (const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
                owner_of(addresses[lane], bytes) == owner)
                lanes |= 1u << lane;
        owner_ = owner;
        each(lanes);
        owner_ = this;
        mask &= ~lanes;
    }
}

void BlockChecks::access(WatchSite &site, std::uint32_t mask, const std::uint64_t *addresses,
                         const std::byte *values, rt::WatchPiece *piece) {
    for_each_owner(site, mask, LaneAddresses(addresses), [&](std::uint32_t lanes) {
        access_of_owner(site, lanes, LaneAddresses::of(addresses, lanes), values, piece);
    });
}

void BlockChecks::access_of_owner(WatchSite &site, std::uint32_t mask,
                                  const LaneAddresses &addresses, const std::byte *values,
                                  rt::WatchPiece *piece) {
    if (reads_unwritten(site, mask, addresses, piece) || keeps_read(site, mask, addresses) ||
        marks_at_once(site, mask, addresses, values))
        return;
    const WarpAccess access =
        warp_access(site, mask, addresses, values, state_.warp_index, clock());
    check(access);
    if (piece && !orders(launch_))
        fill(*piece, access);
}

void BlockChecks::access_row(WatchSite &site, std::uint32_t mask, std::uint64_t first,
                             std::uint64_t step, const std::byte *values, rt::WatchPiece *piece) {
    const LaneAddresses addresses(first, step);
    for_each_owner(site, mask, addresses, [&](std::uint32_t lanes) {
        if (!reads_unwritten(site, lanes, addresses, piece) &&
            !keeps_read(site, lanes, addresses) && !marks_at_once(site, lanes, addresses, values))
            check(warp_access(site, lanes, addresses, values, state_.warp_index, clock()));
    });
}

void BlockChecks::copy(WatchSite &site, std::uint32_t lane, std::uint64_t address,
                       std::uint64_t bytes, const rt::CopyEnd &end) {
    owner_ = owner_of(address, bytes);
    WarpAccess access = warp_access(site, 1u << lane, LaneAddresses(address, 0), nullptr,
                                    state_.warp_index, clock());
    access.bytes = static_cast<std::uint32_t>(bytes);
    access.aligns = false;
    access.space = place_of(access, address).space;
    if (launch_.modes & Mem)
        check_bounds(access);
    if (launch_.modes & Init)
        check_written(access);
    if ((launch_.modes & Race) && end.by != rt::CopyEnd::By::Unknown)
        check_bulk_copy(access, end);
    owner_ = this;
}

// The bounds of a texture or surface are those of the object, so only the order is checked.
void BlockChecks::texels(WatchSite &site, std::uint32_t mask, const std::uint64_t *addresses,
                         std::uint32_t bytes) {
    WarpAccess access = warp_access(site, mask, LaneAddresses::of(addresses, mask), nullptr,
                                    state_.warp_index, clock());
    access.bytes = bytes;
    access.space = Space::Global;
    acquire_pending_reads(access.warp);
    check_races(access);
}

void BlockChecks::check(const WarpAccess &access) {
    if (orders(launch_))
        acquire_pending_reads(access.warp);
    if (access.site.kind == WatchKind::Free) {
        if (launch_.modes & Mem)
            check_free(access);
        return;
    }
    if (launch_.modes & Mem)
        check_bounds(access);
    if (launch_.modes & Init)
        check_written(access);
    if (orders(launch_))
        check_races(access);
}

void BlockChecks::fill(rt::WatchPiece &piece, const WarpAccess &access) {
    const std::uint64_t address = access.addresses[std::countr_zero(access.mask)];
    const Place place = place_of(access, address);
    std::uint64_t begin = 0, end = 0;
    piece = {};
    if (place.space == Space::Global) {
        const MemoryMap::Piece *found = piece_of(address);
        if (!found || !found->stays)
            return;
        begin = found->begin;
        end = found->end;
        if (found->knows_writes && (launch_.modes & Init))
            piece.written = Memory::of_process().written.distance();
    } else {
        const bool shared = place.space == Space::Shared;
        const std::byte *window = shared ? owner_->state_.shared : state_.local;
        // A variable of local memory is at another place for each thread: kernels ask for its
        // bounds by themselves.
        const bool variable = shared && access.site.array;
        begin = address_of(window) + (variable ? access.site.array_begin : 0);
        end = variable ? address_of(window) + access.site.array_end
                       : begin + (shared ? launch_.shared_bytes : launch_.local_bytes);
        if (launch_.modes & Init)
            piece.written =
                (shared ? owner_->shared_written_ : local_written_).distance_from(window);
    }
    piece.begin = begin;
    piece.places = end - begin < access.bytes ? 0 : end - begin - access.bytes + 1;
}

/// Whether a run of bytes that holds all that the lanes access has been written, or is now.
bool BlockChecks::is_written_at_once(const WarpAccess &access) {
    constexpr std::uint64_t kLongest = 4096;
    const std::uint64_t bytes = access.span.last - access.span.first + access.bytes;
    const std::optional<Space> space = access.space;
    if (!space || bytes > kLongest)
        return false;
    const bool loads = access.site.kind == WatchKind::Load;
    if (!loads && (access.site.kind != WatchKind::Store ||
                   !(access.span.uniform ||
                     (access.mask == ~0u && access.addresses.are_adjacent(access.bytes)))))
        return false;
    if (*space != Space::Global) {
        WrittenWindow &window = *space == Space::Shared ? owner_->shared_written_ : local_written_;
        const std::uint64_t offset = place_of(access, access.span.first).offset;
        if (loads)
            return window.is_written(offset, bytes);
        window.write(offset, bytes);
        return true;
    }
    const MemoryMap::Piece *piece = piece_of(access.span.first);
    if (!piece || access.span.last >= piece->end)
        return false;
    if (!piece->knows_writes)
        return true;
    WrittenMemory &memory = Memory::of_process().written;
    if (loads)
        return memory.is_written(access.span.first, bytes);
    memory.write(access.span.first, bytes);
    return true;
}

namespace {

/// Whether all bytes are written with which the program computes. Of bytes that it only copies,
/// some must be: the others may be the padding of a struct.
template <class Written>
bool are_written(const Written &memory, std::uint64_t offset, std::uint64_t all,
                 const rt::WatchSite &site) {
    const std::uint64_t bytes = std::uint64_t{site.bytes} * site.count;
    if (all != bytes || site.kind != WatchKind::Load) // a copy, as long as the program says
        return memory.is_written(offset, all);
    constexpr std::uint64_t kMost = 32;
    const std::uint64_t first_bytes = ~std::uint64_t{0} >> (64 - std::min(bytes, kMost));
    const std::uint64_t computed = site.computed & first_bytes;
    for (std::uint64_t left = computed; left != 0; left &= left - 1)
        if (!memory.is_written(offset + static_cast<unsigned>(std::countr_zero(left)), 1))
            return false;
    if (computed != 0)
        return true;
    for (std::uint64_t byte = 0; byte < std::uint64_t{site.bytes} * site.used; ++byte)
        if (memory.is_written(offset + byte, 1))
            return true;
    return site.used == 0;
}

} // namespace

void BlockChecks::check_written(const WarpAccess &access) {
    if (is_written_at_once(access))
        return;
    const bool writes = access.site.kind != WatchKind::Load;
    WrittenMemory &memory = Memory::of_process().written;
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const Place place = place_of(access, access.addresses[lane]);
        WrittenWindow *window = place.space == Space::Shared  ? &owner_->shared_written_
                                : place.space == Space::Local ? &local_written_
                                                              : nullptr;
        bool written = true;
        if (!window) {
            const MemoryMap::Piece *piece = piece_of(place.offset);
            if (!piece || !piece->knows_writes)
                continue;
            written = access.site.kind == WatchKind::Store ||
                      are_written(memory, place.offset, access.bytes, access.site);
            if (writes)
                memory.write(place.offset, access.bytes);
        } else {
            written = access.site.kind == WatchKind::Store ||
                      are_written(*window, place.offset, access.bytes, access.site);
            if (writes)
                window->write(place.offset, access.bytes);
        }
        if (written || launch_.is_known(Kind::Uninitialized, access.number, 0))
            continue;
        Finding finding;
        finding.mode = Init;
        finding.space = window ? (place.space == Space::Shared ? "shared" : "local") : "global";
        finding.array = window ? variable_of(access.number) : launch_.memory.describe(place.offset);
        finding.detail = "not written since it was allocated";
        finding.accesses = {found(access, lane)};
        launch_.tell(Kind::Uninitialized, access.number, 0, finding);
    }
}

void BlockChecks::fence(WatchScope scope, std::uint32_t mask) {
    acquire_pending_reads(state_.warp_index);
    if (mask != 0)
        order_.fence(state_.warp_index, scope);
}

void BlockChecks::arrive(std::uint32_t warp, std::uint32_t number, bool waits) {
    if (!orders(launch_))
        return;
    acquire_pending_reads(warp);
    order_.arrive(warp, number, waits);
    if (waits && number < arrived_.size())
        arrived_[number] |= 1u << warp;
}

void BlockChecks::leave(std::uint32_t warp, std::uint32_t number, bool all) {
    if (!orders(launch_))
        return;
    order_.leave(warp, number, all);
    if (number >= arrived_.size() || (all && arrived_[number] != all_warps()))
        return;
    arrived_[number] = 0;
    if (all)
        begin_phase();
}

void BlockChecks::pass(bool all) {
    if (all) {
        for (std::uint32_t warp = 0; warp < strong_reads_.size(); ++warp)
            acquire_pending_reads(warp);
        order_.pass_all();
        begin_phase();
        return;
    }
    // In a generation, each warp comes to a barrier or ends.
    const std::uint32_t arrived = arrived_[0];
    if (const std::uint32_t ended = all_warps() & ~arrived; arrived != 0 && ended != 0)
        pass_without(static_cast<std::uint32_t>(std::popcount(ended)));
    for (std::uint32_t left = arrived; left != 0; left &= left - 1)
        leave(static_cast<std::uint32_t>(std::countr_zero(left)), 0, true);
    arrived_[0] = 0;
}

std::uint32_t BlockChecks::clock() const {
    return orders(launch_) ? order_.clock(state_.warp_index) : 0;
}

std::uint32_t BlockChecks::all_warps() const {
    return ~0u >> (kWarps - static_cast<unsigned>(strong_reads_.size()));
}

// All earlier accesses of the block to its shared memory are ordered before all later ones.
// Asynchronous copies that no warp has waited for are the exception.
void BlockChecks::begin_phase() {
    if (has_peers() || !cluster_->bulk.empty() ||
        std::any_of(copies_.begin(), copies_.end(),
                    [](const Copies &copies) { return !copies.pending.empty(); }))
        return;
    phase_reads_.begin();
    shared_marks_.begin_run();
}

} // namespace softcuda::check
