// worker_slot.cpp -- memory windows for running blocks.
#include "rt/worker_slot.h"

#include "rt/warp_scheduler.h"

#include <algorithm>
#include <new>

namespace softcuda::rt {

bool Scratch::provide(std::uint64_t bytes) noexcept {
    const std::uint64_t wanted = round_up(std::max(bytes, page_size()), page_size());
    if (range_ && wanted < range_->size())
        return true;
    try {
        range_ = nullptr;
        range_ = std::make_unique<ReservedRange>(wanted +
                                                 page_size()); // the last page stays inaccessible
    } catch (const std::bad_alloc &) {
        return false;
    }
    if (range_->open(range_->begin(), wanted))
        return true;
    range_ = nullptr;
    return false;
}

WorkerSlot::WorkerSlot(unsigned index, unsigned count) {
    state_.worker_id = index;
    state_.worker_count = count;
}

WorkerSlot::~WorkerSlot() = default;

WarpScheduler &WorkerSlot::scheduler() {
    if (!scheduler_)
        scheduler_ = std::make_unique<WarpScheduler>();
    return *scheduler_;
}

bool WorkerSlot::prepare(const BlockMemory &needs) noexcept {
    if (!windows_.provide(needs.shared, needs.local) || !scratch_.provide(needs.scratch) ||
        !stack_.provide(needs.stack))
        return false;
    state_.shared = windows_.shared();
    state_.local = windows_.local();
    state_.scratch = scratch_.begin();
    state_.known.forget();
    return true;
}

} // namespace softcuda::rt
