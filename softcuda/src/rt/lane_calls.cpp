// lane_calls.cpp -- begins calls of single lanes, and switches between them and the kernel.
#include "rt/lane_calls.h"

#include "rt/warp_scheduler.h"

#include <new>

namespace softcuda::rt {
namespace {

constexpr std::uint32_t bit_of(std::uint32_t lane) { return std::uint32_t{1} << lane; }

} // namespace

WarpFiber::WarpFiber() = default;
WarpFiber::~WarpFiber() = default;

LaneCalls::LaneCalls(std::uint64_t stack_bytes, std::uint64_t guard)
    : stack_bytes_(stack_bytes), guard_(guard), stacks_((stack_bytes + guard) * kWarpSize) {
    for (std::uint32_t number = 0; number < kWarpSize; number++) {
        lanes_[number].calls = this;
        lanes_[number].number = number;
    }
}

std::unique_ptr<LaneCalls> LaneCalls::make(std::uint64_t stack_bytes, std::uint64_t guard) {
    try {
        return std::unique_ptr<LaneCalls>(new LaneCalls(stack_bytes, guard));
    } catch (const std::bad_alloc &) {
        return nullptr; // the caller ends the launch
    }
}

void LaneCalls::forget() noexcept {
    live_ = resting_ = at_exchange_ = at_barrier_ = 0;
    running_ = nullptr;
}

std::byte *LaneCalls::stack_of(const Lane &lane) const noexcept {
    return stacks_.begin() + lane.number * (stack_bytes_ + guard_) + guard_;
}

bool LaneCalls::open_stack(Lane &lane) noexcept {
    if (!lane.has_stack)
        lane.has_stack = stacks_.open(stack_of(lane), stack_bytes_);
    return lane.has_stack;
}

bool LaneCalls::start(WarpScheduler &scheduler, LaneState &kernel, WorkerState *worker,
                      const LaneCall &call, std::uint32_t mask) noexcept {
    scheduler_ = &scheduler;
    worker_ = worker;
    kernel_ = &kernel;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        Lane &lane = lanes_[static_cast<std::size_t>(__builtin_ctz(rest))];
        if (!open_stack(lane))
            return false;
        lane.call = call;
        lane.fiber.start(stack_of(lane), stack_bytes_, begin, &lane);
    }
    live_ |= mask;
    resting_ &= ~mask;
    return true;
}

void LaneCalls::begin(void *raw) {
    Lane &lane = *static_cast<Lane *>(raw);
    LaneCalls &calls = *lane.calls;
    const LaneCall &call = lane.call;
    const std::uint32_t bit = bit_of(lane.number);
    call.function(call.frame, calls.worker_, call.block, call.warp, bit, call.depth, call.area);
    calls.live_ &= ~bit;
    if ((*call.ended & bit) == 0)
        calls.kernel_->waiting[call.place] |= bit;
    calls.scheduler_->rest_lane();
    __builtin_unreachable(); // the lane's next call begins anew
}

void LaneCalls::run() {
    for (std::uint32_t n = 0; n < kWarpSize; n++) {
        if ((ready() & bit_of(n)) == 0)
            continue;
        running_ = &lanes_[n];
        resting_ |= bit_of(n);
        scheduler_->run_lane(lanes_[n].fiber);
        if (((live_ & ~at_exchange_ & ~at_barrier_) & bit_of(n)) == 0)
            resting_ &= ~bit_of(n); // its wait or its end decides when it runs again
    }
    running_ = nullptr;
}

void LaneCalls::exchange(LaneState &frame, std::uint32_t place) {
    Lane &lane = *running_;
    const std::uint32_t n = lane.number, bit = bit_of(n);
    lane.exchange = frame.exchanges + place;
    kernel_->members[n] = frame.members[n];
    kernel_->sent[n] = frame.sent[n];
    kernel_->source[n] = frame.source[n];
    kernel_->control[n] = frame.control[n];
    at_exchange_ |= bit;
    scheduler_->rest_lane();
    frame.received[n] = kernel_->received[n];
    frame.valid = kernel_->valid & bit;
    frame.met |= bit;
}

void LaneCalls::reach_barrier(const LaneState &frame) {
    const std::uint32_t n = running_->number, bit = bit_of(n);
    kernel_->members[n] = frame.members[n];
    kernel_->votes = (kernel_->votes & ~bit) | (frame.votes & bit);
    at_barrier_ |= bit;
    scheduler_->rest_lane();
}

} // namespace softcuda::rt

using namespace softcuda::rt;

void scu_call_lanes(WorkerState *worker, LaneState *state, const LaneCall *call,
                    std::uint32_t mask) {
    ResidentBlock &block = ResidentBlock::of(worker);
    WarpScheduler &scheduler = block.scheduler();
    LaneCalls &calls = block.calls_of(scheduler.current());
    if (!calls.start(scheduler, *state, worker, *call, mask))
        block.fail_without_stacks(scheduler.current());
}
