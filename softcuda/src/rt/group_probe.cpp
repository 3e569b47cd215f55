// group_probe.cpp -- compares the times of chunks.
#include "rt/group_probe.h"

#include <algorithm>
#include <numeric>

namespace softcuda::rt {

std::uint64_t GroupProbe::Times::sum_of_short() const noexcept {
    std::array<std::uint64_t, kSamples> sorted = values;
    std::ranges::sort(sorted);
    return std::accumulate(sorted.begin(), sorted.begin() + kSamples / 2, std::uint64_t{0});
}

void GroupProbe::note(bool groups, std::uint64_t picoseconds) noexcept {
    const std::lock_guard lock(mutex_);
    Times &own = times_[groups ? 1 : 0];
    if (own.count == kSamples)
        return;
    own.values[own.count++] = picoseconds;
    if (times_[0].count == kSamples && times_[1].count == kSamples)
        choice_ =
            times_[1].sum_of_short() < times_[0].sum_of_short() ? Choice::Groups : Choice::Single;
}

GroupProbe &GroupProbes::of(const std::array<std::uint32_t, 3> &grid) noexcept {
    const std::lock_guard lock(mutex_);
    const auto end = slots_.begin() + static_cast<std::ptrdiff_t>(used_);
    const auto found =
        std::find_if(slots_.begin(), end, [&](const Slot &slot) { return slot.grid == grid; });
    if (found != end)
        return found->probe;
    if (used_ == kGrids)
        return slots_.back().probe;
    slots_[used_].grid = grid;
    return slots_[used_++].probe;
}

} // namespace softcuda::rt
