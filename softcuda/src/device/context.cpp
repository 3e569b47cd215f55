// context.cpp -- contexts and the threads' stacks of them.
#include "device/context.h"

#include "device/device.h"
#include "device/error.h"
#include "device/system.h"
#include "rt/thread_owned.h"

#include <algorithm>
#include <vector>

namespace softcuda::device {
namespace {

std::uint64_t next_context_id() {
    static std::atomic<std::uint64_t> next{1};
    return next++;
}

/// The limits that exist here, with what CUDA gives them at first.
struct LimitRow {
    CUlimit limit;
    std::size_t initial;
    std::size_t highest;
};

constexpr LimitRow kLimitRows[] = {
    {CU_LIMIT_STACK_SIZE, 1024, 512 * 1024},
    {CU_LIMIT_PRINTF_FIFO_SIZE, std::size_t{1} << 20, std::size_t{1} << 30},
    {CU_LIMIT_MALLOC_HEAP_SIZE, std::size_t{8} << 20, std::size_t{1} << 40},
    {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64, 128},
    {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0, 0},
};

const LimitRow &limit_row(CUlimit limit) {
    for (const LimitRow &row : kLimitRows)
        if (row.limit == limit)
            return row;
    throw Error(static_cast<int>(limit) >= 0 && limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT
                                                                     : CUDA_ERROR_INVALID_VALUE);
}

} // namespace

Context::Context(Device &device, unsigned flags, Role role)
    : device_(device), role_(role), id_(next_context_id()), flags_(flags) {
    reset_state();
}

Context::~Context() = default;

void Context::reset_state() {
    std::lock_guard lock(mutex_);
    sticky_ = CUDA_SUCCESS;
    peers_.clear();
    for (const LimitRow &row : kLimitRows)
        limits_.at(row.limit) = row.initial;
}

void Context::activate() {
    reset_state();
    active_ = true;
}

void Context::tear_down() {
    active_ = false;
    System::get().memory().free_all(this);
}

void Context::set_sticky_error(CUresult result) noexcept {
    int expected = CUDA_SUCCESS;
    sticky_.compare_exchange_strong(expected, result);
}

void Context::synchronize() {}

std::size_t Context::limit(CUlimit limit) const {
    const LimitRow &row = limit_row(limit);
    std::lock_guard lock(mutex_);
    return limits_.at(row.limit);
}

void Context::set_limit(CUlimit limit, std::size_t value) {
    const LimitRow &row = limit_row(limit);
    std::lock_guard lock(mutex_);
    limits_.at(row.limit) = std::min(value, row.highest); // CUDA clamps, too
}

void Context::enable_peer(Context &peer) {
    std::lock_guard lock(mutex_);
    require(peers_.insert(&peer).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
}

void Context::disable_peer(Context &peer) {
    std::lock_guard lock(mutex_);
    require(peers_.erase(&peer) == 1, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

namespace current_context {
namespace {

// Shared, so that a context that another thread destroys can still be told from a live one.
struct Stack {
    std::vector<std::shared_ptr<Context>> contexts;
};

std::vector<std::shared_ptr<Context>> &stack() { return rt::thread_owned<Stack>().contexts; }

} // namespace

Context *get() noexcept { return stack().empty() ? nullptr : stack().back().get(); }

Context &require_usable() {
    Context *context = get();
    require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    require(context->active(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    if (const CUresult error = context->sticky_error(); error != CUDA_SUCCESS)
        throw Error(error);
    return *context;
}

void push(Context &context) { stack().push_back(context.shared_from_this()); }

Context &pop() {
    require(!stack().empty(), CUDA_ERROR_INVALID_CONTEXT);
    Context &top = *stack().back();
    stack().pop_back();
    return top; // the registry, or the device, still holds it
}

void set(Context *context) {
    if (!context) {
        if (!stack().empty())
            stack().pop_back();
    } else if (stack().empty()) {
        push(*context);
    } else {
        stack().back() = context->shared_from_this();
    }
}

} // namespace current_context
} // namespace softcuda::device
