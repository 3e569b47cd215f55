// arena.cpp -- a next-fit allocator of page runs.
//
//     | red | run A | red |  free ...  | run B | red |  free ...
//
// A red zone belongs to the run before it; the arena's first page is the red zone before the first
// run. Free ranges are stored by address, and merged with their neighbours when a run is freed.
#include "device/arena.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>

namespace softcuda::device {
namespace {

constexpr std::uint64_t kSmallestArena = std::uint64_t{64} << 20;
constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

// If the process has few addresses, most of them are needed for the windows of thread blocks and
// for other purposes.
std::uint64_t fair_share(std::uint64_t wanted) {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return wanted;
    return std::clamp(std::bit_floor<std::uint64_t>(limit.rlim_cur / 8), kSmallestArena, wanted);
}

std::unique_ptr<rt::ReservedRange> reserve_up_to(std::uint64_t wanted) {
    for (std::uint64_t bytes = fair_share(wanted);; bytes /= 2) {
        try {
            return std::make_unique<rt::ReservedRange>(bytes);
        } catch (const std::bad_alloc &) {
            if (bytes <= kSmallestArena)
                throw; // RLIMIT_AS leaves no addresses for device memory
        }
    }
}

} // namespace

Arena::Arena(std::uint64_t wanted) : range_(reserve_up_to(std::bit_floor(wanted))) {
    base_ = reinterpret_cast<std::uint64_t>(range_->begin());
    cursor_ = base_ + rt::page_size();
    free_.emplace(cursor_, base_ + size());
}

std::uint64_t Arena::run_bytes(std::uint64_t bytes) noexcept {
    return rt::round_up(bytes, rt::page_size());
}

Arena::Place Arena::find(std::uint64_t bytes, std::uint64_t align, std::uint64_t from) {
    auto range = free_.upper_bound(from);
    if (range != free_.begin())
        --range; // the range that may contain `from`
    for (; range != free_.end(); ++range) {
        const std::uint64_t address = rt::round_up(std::max(range->first, from), align);
        if (address < range->second && range->second - address >= bytes)
            return {range, address};
    }
    return {range, 0};
}

void Arena::carve(const Place &place, std::uint64_t bytes) {
    const auto [begin, end] = *place.range;
    free_.erase(place.range);
    if (place.address > begin)
        free_.emplace(begin, place.address);
    if (place.address + bytes < end)
        free_.emplace(place.address + bytes, end);
    cursor_ = place.address + bytes;
}

void Arena::release(std::uint64_t begin, std::uint64_t end) {
    const auto next = free_.lower_bound(begin);
    if (next != free_.end() && next->first == end) {
        end = next->second;
        free_.erase(next);
    }
    const auto after = free_.lower_bound(begin);
    if (after != free_.begin() && std::prev(after)->second == begin)
        std::prev(after)->second = end;
    else
        free_.emplace(begin, end);
}

std::byte *Arena::reserve(std::uint64_t bytes, std::uint64_t align) {
    if (bytes > size())
        return nullptr;
    const std::uint64_t guarded = run_bytes(bytes) + rt::page_size();
    Place place = find(guarded, align, cursor_);
    if (place.range == free_.end())
        place = find(guarded, align, 0);
    if (place.range == free_.end())
        return nullptr;
    carve(place, guarded);
    return reinterpret_cast<std::byte *>(place.address);
}

std::byte *Arena::take(std::uint64_t bytes) {
    const std::uint64_t pages = run_bytes(bytes);
    const bool huge = pages >= kHugePage;
    std::byte *run = reserve(bytes, huge ? kHugePage : rt::page_size());
    if (!run)
        return nullptr;
    if (!range_->open(run, pages)) { // the system's limit on mappings or memory
        const auto address = reinterpret_cast<std::uint64_t>(run);
        release(address, address + pages + rt::page_size());
        return nullptr;
    }
    if (huge)
        madvise(run, pages, MADV_HUGEPAGE); // fewer page faults; optional
    return run;
}

void Arena::give_back(std::byte *run, std::uint64_t bytes) {
    const std::uint64_t pages = run_bytes(bytes);
    const auto address = reinterpret_cast<std::uint64_t>(run);
    // If the system refuses, the run stays accessible and is not reused.
    if (range_->close(run, pages))
        release(address, address + pages + rt::page_size());
}

} // namespace softcuda::device
