// context.cpp -- contexts, and the stack of contexts of each thread.
#include "device/context.h"

#include "check/modes.h"
#include "device/checked_memory.h"

#include "device/device.h"
#include "device/error.h"
#include "device/event.h"
#include "device/fault_log.h"
#include "device/graphs/capture.h"
#include "device/memory_pool.h"
#include "device/module.h"
#include "device/registry.h"
#include "device/system.h"
#include "device/texture.h"
#include "rt/thread_owned.h"

#include <algorithm>
#include <vector>

namespace softcuda::device {
namespace {

std::uint64_t next_context_id() {
    static std::atomic<std::uint64_t> next{1};
    return next++;
}

/// The supported limits, with CUDA's initial values.
struct LimitRow {
    CUlimit limit;
    std::size_t initial;
    std::size_t highest;
};

constexpr LimitRow kLimitRows[] = {
    {CU_LIMIT_STACK_SIZE, 1024, 512 * 1024},
    {CU_LIMIT_PRINTF_FIFO_SIZE, std::size_t{1} << 20, std::size_t{1} << 30},
    {CU_LIMIT_MALLOC_HEAP_SIZE, std::size_t{8} << 20, std::size_t{1} << 40},
    // Device code cannot wait for kernels, and the number of its launches is not limited.
    {CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2, 24},
    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048, std::size_t{1} << 30},
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
    make_streams();
}

Context::~Context() = default;

void Context::reset_state() {
    std::lock_guard lock(mutex_);
    sticky_ = CUDA_SUCCESS;
    passing_ = CUDA_SUCCESS;
    peers_.clear();
    heap_used_ = 0;
    for (const LimitRow &row : kLimitRows)
        limits_.at(row.limit) = row.initial;
}

void Context::make_streams() {
    legacy_ = std::make_shared<Stream>(*this, Stream::Kind::Legacy, kLeastPriority);
    System::get().timeline().add_stream(legacy_);
}

void Context::activate() {
    reset_state();
    make_streams();
    active_ = true;
}

void Context::remove_objects() {
    capture::forget(*this);
    const auto is_mine = [this](const auto &object) { return &object.context() == this; };
    registry<Event>().remove_if(is_mine);
    registry<TextureReference>().remove_if(is_mine);
    destroy_texture_objects(*this);
    registry<MipmappedArray>().remove_if(is_mine);
    registry<Array>().remove_if(is_mine);
    registry<Stream>().remove_if(is_mine);
    registry<Function>().remove_if(
        [this](const Function &function) { return &function.module().context() == this; });
    registry<Module>().remove_if(is_mine);
}

void Context::tear_down(Pending pending) {
    active_ = false;
    ++life_;
    if (pending == Pending::Drop)
        interrupt();
    // Another thread may add a command at the same time.
    for (;;) {
        const std::vector<std::shared_ptr<Command>> left = System::get().timeline().close(*this);
        if (left.empty())
            break;
        for (const std::shared_ptr<Command> &command : left)
            command->wait();
    }
    collect_output();
    checked_memory::find_leaks(this);
    remove_objects();
    {
        std::lock_guard lock(mutex_);
        per_thread_.clear();
    }
    MemoryPool::free_all(*this);
    System::get().memory().free_all(this);
}

void Context::destroy(const std::shared_ptr<Context> &context) {
    static auto *const destroyed = new std::vector<std::shared_ptr<Context>>;
    static std::mutex mutex;
    context->tear_down(Pending::Finish);
    require(registry<Context>().remove(context.get()) != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    std::lock_guard lock(mutex);
    destroyed->push_back(context);
}

void Context::fail(CUresult result, const ScuFault *fault) noexcept {
    std::lock_guard lock(failing_);
    if (sticky_error() != CUDA_SUCCESS)
        return;
    try {
        if (fault)
            remember_fault(*fault);
        log_fault(fault ? fault->message : "a kernel failed");
    } catch (const std::bad_alloc &) { // then the report is shorter
    }
    if (check::fails_kernel_only())
        set_passing_error(result);
    else
        sticky_ = result;
}

void Context::throw_error() {
    require(sticky_error() == CUDA_SUCCESS, sticky_error());
    if (passing_.load(std::memory_order_relaxed) == CUDA_SUCCESS)
        return;
    const auto error = static_cast<CUresult>(passing_.exchange(CUDA_SUCCESS));
    require(error == CUDA_SUCCESS, error);
}

static void wait_for(const std::vector<std::shared_ptr<Command>> &commands,
                     HostNotified notified = HostNotified::Yes) {
    for (const std::shared_ptr<Command> &command : commands)
        require(command->wait_unless_given_up(notified), CUDA_ERROR_NOT_READY);
}

void Context::wait_for_all(HostNotified notified) {
    wait_for(System::get().timeline().pending(*this, notified), notified);
}

void Context::synchronize() {
    capture::forbid(*this);
    wait_for_all();
    collect_output();
    throw_error();
}

void Context::synchronize(const Stream &stream) {
    capture::forbid(stream);
    wait_for(System::get().timeline().pending(stream));
    collect_output();
    throw_error();
}

void Context::interrupt() {
    interrupts_++;
    System::get().pool().interrupt_all_of(this);
}

std::shared_ptr<Stream> Context::legacy_stream() const { return legacy_; }

/// The contexts in which a thread has a per-thread default stream: the stream ends with the thread.
struct Context::ThreadStreams {
    std::vector<Context *> contexts;
    ~ThreadStreams() {
        for (Context *context : contexts)
            context->remove_thread_stream();
    }
};

std::shared_ptr<Stream> Context::per_thread_stream() {
    std::vector<Context *> &mine = rt::thread_owned<ThreadStreams>().contexts;
    std::lock_guard lock(mutex_);
    std::shared_ptr<Stream> &stream = per_thread_[std::this_thread::get_id()];
    if (!stream) {
        if (std::find(mine.begin(), mine.end(), this) == mine.end())
            mine.push_back(this);
        stream = std::make_shared<Stream>(*this, Stream::Kind::Blocking, kLeastPriority);
        System::get().timeline().add_stream(stream);
    }
    return stream;
}

void Context::remove_thread_stream() {
    std::shared_ptr<Stream> stream;
    {
        std::lock_guard lock(mutex_);
        const auto position = per_thread_.find(std::this_thread::get_id());
        if (position == per_thread_.end())
            return; // the context was torn down
        stream = std::move(position->second);
        per_thread_.erase(position);
    }
    capture::forget(*stream);
    System::get().timeline().remove_stream(stream);
}

std::uint64_t Context::heap_allocate(std::uint64_t bytes) noexcept {
    std::lock_guard lock(mutex_);
    const std::uint64_t capacity = limits_.at(CU_LIMIT_MALLOC_HEAP_SIZE);
    if (bytes > capacity - std::min(heap_used_, capacity))
        return 0;
    try {
        const std::uint64_t address = System::get().memory().allocate({.size = bytes,
                                                                       .kind = MemoryKind::Heap,
                                                                       .device = &device_,
                                                                       .context = this,
                                                                       .flags = 0});
        heap_used_ += bytes;
        return address;
    } catch (const std::exception &) {
        return 0;
    }
}

bool Context::heap_release(std::uint64_t address) noexcept {
    std::lock_guard lock(mutex_);
    try {
        AddressSpace &memory = System::get().memory();
        const std::optional<Allocation> allocation = memory.find(address);
        if (!allocation || allocation->address != address)
            return false;
        memory.free(address, MemoryKind::Heap);
        heap_used_ -= allocation->size;
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

std::size_t Context::limit(CUlimit limit) const {
    const LimitRow &row = limit_row(limit);
    std::lock_guard lock(mutex_);
    return limits_.at(row.limit);
}

void Context::set_limit(CUlimit limit, std::size_t value) {
    const LimitRow &row = limit_row(limit);
    std::lock_guard lock(mutex_);
    limits_.at(row.limit) = std::min(value, row.highest); // CUDA also clamps the value
    if (limit == CU_LIMIT_PRINTF_FIFO_SIZE)
        printed_.set_capacity(limits_.at(row.limit));
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

struct Entry {
    // Shared, so that a context that another thread destroys can be recognised.
    std::shared_ptr<Context> context;
    std::shared_ptr<GreenContext> green;
};
struct Stack {
    std::vector<Entry> entries;
};

std::vector<Entry> &stack() { return rt::thread_owned<Stack>().entries; }

} // namespace

Context *get() noexcept { return stack().empty() ? nullptr : stack().back().context.get(); }

GreenContext *green() noexcept { return stack().empty() ? nullptr : stack().back().green.get(); }

Context &require_usable() {
    Context *context = get();
    require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    require(context->active(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    if (const CUresult error = context->sticky_error(); error != CUDA_SUCCESS)
        throw Error(error);
    return *context;
}

void push(Context &context, std::shared_ptr<GreenContext> green) {
    stack().push_back({context.shared_from_this(), std::move(green)});
}

Context &pop() {
    require(!stack().empty(), CUDA_ERROR_INVALID_CONTEXT);
    Context &top = *stack().back().context;
    stack().pop_back();
    return top; // the registry or the device still owns it
}

void set(Context *context, std::shared_ptr<GreenContext> green) {
    if (!stack().empty())
        stack().pop_back();
    if (context)
        push(*context, std::move(green));
}

} // namespace current_context
} // namespace softcuda::device
