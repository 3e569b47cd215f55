// large_stack.cpp -- the body runs as a fiber that the thread waits for.
#include "rt/large_stack.h"

#include "rt/guard.h"

#include <new>

namespace softcuda::rt {

namespace {

// Larger than a page: one access may skip the next few pages of a stack.
constexpr std::uint64_t kGuardBytes = std::uint64_t{64} << 10;

} // namespace

bool LargeStack::provide(std::uint64_t bytes) noexcept {
    const std::uint64_t wanted = round_up(bytes, page_size()) + kGuardBytes;
    if (bytes == 0 || (range_ && wanted <= range_->size()))
        return true;
    try {
        range_ = nullptr;
        range_ = std::make_unique<ReservedRange>(wanted);
    } catch (const std::bad_alloc &) {
        return false;
    }
    std::byte *stack = range_->begin() + kGuardBytes;
    if (range_->open(stack, wanted - kGuardBytes))
        return true;
    range_ = nullptr;
    return false;
}

void LargeStack::call(Fiber::Body body, void *argument) noexcept {
    body_ = body;
    argument_ = argument;
    thread_.adopt_thread();
    fiber_.start(range_->begin() + kGuardBytes, range_->size() - kGuardBytes, begin, this);
    stack_ = fiber_.stack();
    watch_stack(&stack_);
    resume(thread_, fiber_);
    watch_stack(nullptr);
}

void LargeStack::begin(void *stack) noexcept {
    auto &own = *static_cast<LargeStack *>(stack);
    own.body_(own.argument_);
    resume(own.fiber_, own.thread_);
}

void LargeStack::left_by_jump() noexcept {
    arrive_by_jump(fiber_, thread_);
    watch_stack(nullptr);
}

} // namespace softcuda::rt
