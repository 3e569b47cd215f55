// block_checks.cpp -- hands what a block does to the checks that are on.
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

} // namespace

BlockChecks::BlockChecks(LaunchChecks &launch, rt::WorkerState &state)
    : launch_(launch), state_(state), block_(static_cast<std::uint32_t>(state.block_index)),
      run_(next_run()),
      order_(block_, (threads_of(launch.frame) + rt::kWarpSize - 1) / rt::kWarpSize,
             launch.places) {
    if (launch.modes & (Race | Sync))
        shared_cells_ = launch.take_cells();
    if (launch.modes & Init) {
        shared_written_.reset(launch.shared_bytes);
        local_written_.reset(launch.local_bytes);
    }
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
    if (launch_.modes & (Race | Sync))
        launch_.give_back(std::move(shared_cells_));
}

BlockChecks::Place BlockChecks::place_of(const WarpAccess &access, std::uint64_t address) const {
    const std::uint64_t shared = address - address_of(state_.shared);
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

void BlockChecks::access(WatchSite &site, std::uint32_t mask, const std::uint64_t *addresses,
                         const std::byte *values) {
    if (mask == 0)
        return;
    acquire_what_was_read();
    const WarpAccess access{.site = site,
                            .number = number_of(site),
                            .mask = mask,
                            .addresses = addresses,
                            .values = values,
                            .bytes = site.bytes * site.count,
                            .span = span_of(addresses, mask)};
    if (site.kind == WatchKind::Free) {
        if (launch_.modes & Mem)
            check_free(access);
        return;
    }
    if (launch_.modes & Mem)
        check_bounds(access);
    if (launch_.modes & Init)
        check_written(access);
    if (launch_.modes & (Race | Sync))
        check_races(access);
}

/// Whether a run of bytes that holds all that the lanes access has been written, or is now.
bool BlockChecks::is_written_at_once(const WarpAccess &access) {
    constexpr std::uint64_t kLongest = 4096;
    const std::uint64_t bytes = access.span.last - access.span.first + access.bytes;
    const std::optional<Space> space = space_of(access);
    if (!space || bytes > kLongest)
        return false;
    const bool loads = access.site.kind == WatchKind::Load;
    if (!loads &&
        (access.site.kind != WatchKind::Store ||
         !(access.span.uniform || are_adjacent(access.addresses, access.mask, access.bytes))))
        return false;
    if (*space != Space::Global) {
        WrittenWindow &window = *space == Space::Shared ? shared_written_ : local_written_;
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

void BlockChecks::check_written(const WarpAccess &access) {
    if (is_written_at_once(access))
        return;
    const bool writes = access.site.kind != WatchKind::Load;
    WrittenMemory &memory = Memory::of_process().written;
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const Place place = place_of(access, access.addresses[lane]);
        WrittenWindow *window = place.space == Space::Shared  ? &shared_written_
                                : place.space == Space::Local ? &local_written_
                                                              : nullptr;
        bool written = true;
        if (!window) {
            const MemoryMap::Piece *piece = piece_of(place.offset);
            if (!piece || !piece->knows_writes)
                continue;
            written = access.site.kind == WatchKind::Store ||
                      memory.is_written(place.offset, access.bytes);
            if (writes)
                memory.write(place.offset, access.bytes);
        } else {
            written = access.site.kind == WatchKind::Store ||
                      window->is_written(place.offset, access.bytes);
            if (writes)
                window->write(place.offset, access.bytes);
        }
        if (written || launch_.is_known(Kind::Uninitialized, access.number, 0))
            continue;
        Finding finding;
        finding.mode = Init;
        finding.space = window ? (place.space == Space::Shared ? "shared" : "local") : "global";
        finding.array = window ? variable_of(access.number) : launch_.memory.describe(place.offset);
        finding.detail = "nobody has written there since it was allocated";
        finding.accesses = {found(access, lane)};
        launch_.tell(Kind::Uninitialized, access.number, 0, finding);
    }
}

void BlockChecks::fence(WatchScope scope, std::uint32_t mask) {
    acquire_what_was_read();
    if (mask != 0)
        order_.fence(state_.warp_index, scope == WatchScope::Device);
}

void BlockChecks::arrive(std::uint32_t warp, std::uint32_t number, bool waits) {
    acquire_what_was_read();
    order_.arrive(warp, number, waits);
}

void BlockChecks::leave(std::uint32_t warp, std::uint32_t number) { order_.leave(warp, number); }

} // namespace softcuda::check
