// seat.cpp -- windows of memory for running blocks.
#include "rt/seat.h"

#include "rt/warp_scheduler.h"

#include <new>

namespace softcuda::rt {
namespace {

// A 32-bit offset plus the widest access stays within the reservation.
constexpr std::uint64_t kSlack = 64 * 1024;

} // namespace

bool Window::provide(std::uint64_t bytes) noexcept {
    if (bytes <= open_ && range_)
        return true;
    if (bytes > kBytes)
        return false;
    try {
        if (!range_)
            range_ = std::make_unique<ReservedRange>(kBelow + kBytes + kSlack);
    } catch (const std::bad_alloc &) {
        return false;
    }
    const std::uint64_t wanted = round_up(bytes, page_size());
    if (wanted > 0 && !range_->open(begin(), wanted))
        return false;
    open_ = wanted;
    return true;
}

Seat::Seat(unsigned index, unsigned count) {
    state_.worker_id = index;
    state_.worker_count = count;
}

Seat::~Seat() = default;

WarpScheduler &Seat::scheduler() {
    if (!scheduler_)
        scheduler_ = std::make_unique<WarpScheduler>();
    return *scheduler_;
}

bool Seat::prepare(const BlockMemory &needs) noexcept {
    if (!shared_.provide(needs.shared) || !local_.provide(needs.local) ||
        !scratch_.provide(needs.scratch))
        return false;
    state_.shared = shared_.begin();
    state_.local = local_.begin();
    state_.scratch = scratch_.begin();
    return true;
}

} // namespace softcuda::rt
