// array_memory.cpp -- allocates the memory of arrays, and decides when to free it.
#include <pycuda/array_memory.h>

#include "arrays/capture_memory.h"
#include "arrays/error_flags.h"
#include "arrays/index_check.h"
#include "arrays/kernel_table.h"
#include "arrays/library_handles.h"
#include "arrays/stream_pool.h"
#include "context/graph_objects.h"
#include "driver/never_destroyed.h"

#include <pycuda/driver.h>
#include <pycuda/driver_calls.h>
#include <pycuda/error.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace pycuda {
namespace {

struct ArrayContexts {
    CallerMutex mutex;
    std::vector<std::shared_ptr<ArrayContext>> all;
    std::function<void()> reclaim;
};

ArrayContexts &contexts() { return never_destroyed<ArrayContexts>(); }

thread_local ArrayAllocator *allocator_of_thread = nullptr;

bool is_dead(const std::shared_ptr<ArrayContext> &entry) {
    return !entry->context().attached() || !entry->context().usable();
}

/// The state of the current context, created at its first use. Removes the states of contexts that
/// have ended, because a new context may have the handle of an old one.
std::shared_ptr<ArrayContext> find_or_make(CUcontext handle) {
    std::vector<std::shared_ptr<ArrayContext>> dead; // destroyed after the lock is released
    ArrayContexts &table = contexts();
    std::lock_guard lock(table.mutex);
    auto alive = std::stable_partition(table.all.begin(), table.all.end(),
                                       [](const auto &entry) { return !is_dead(entry); });
    dead.assign(alive, table.all.end());
    table.all.erase(alive, table.all.end());
    for (const std::shared_ptr<ArrayContext> &entry : table.all)
        if (entry->context().get() == handle)
            return entry;
    auto made = std::make_shared<ArrayContext>(Context::require_current());
    table.all.push_back(made);
    return made;
}

} // namespace

ArrayContext::ArrayContext(Context context)
    : context_(std::move(context)), pool_(MemoryPool::device()),
      kernels_(std::make_unique<KernelTable>(context_)), libraries_(LibraryHandles::make(context_)),
      error_flags_(std::make_unique<ErrorFlags>(context_)), traits_(context_.device()) {
    pool_.on_out_of_memory([this] { free_waiting_blocks(); });
}

ArrayContext::~ArrayContext() = default;

const std::shared_ptr<ArrayContext> &ArrayContext::current() {
    thread_local std::shared_ptr<ArrayContext> last;
    CUcontext handle = driver().cuCtxGetCurrent.value();
    if (!last || last->context().get() != handle || is_dead(last)) {
        if (handle == nullptr)
            handle = Context::require_current().get(); // creates the default context, or throws
        last = find_or_make(handle);
    }
    return last;
}

namespace {
thread_local ArrayContext *in_current = nullptr;
}

ArrayContext &ArrayContext::working_elsewhere() noexcept {
    return in_current != nullptr ? *in_current : *this;
}

ArrayContext::InCurrent::InCurrent()
    : current_(current()), outer_(std::exchange(in_current, current_.get())) {
    in_current_.fetch_add(1, std::memory_order_relaxed);
}

ArrayContext::InCurrent::~InCurrent() {
    in_current_.fetch_sub(1, std::memory_order_relaxed);
    in_current = outer_;
}

void ArrayContext::on_out_of_memory(std::function<void()> reclaim) {
    contexts().reclaim = std::move(reclaim);
}

void ArrayContext::free_waiting_blocks() noexcept {
    if (contexts().reclaim)
        contexts().reclaim();
    detail::release_objects_of_ended_graphs();
    std::vector<std::shared_ptr<detail::StreamPool>> pools;
    {
        std::lock_guard lock(pools_mutex_);
        pools = pools_;
    }
    for (const std::shared_ptr<detail::StreamPool> &pool : pools)
        pool->memory().free_held();
    pool_.free_held();
}

std::shared_ptr<detail::StreamPool> ArrayContext::find_pool(CUstream stream) {
    std::lock_guard lock(pools_mutex_);
    for (const std::shared_ptr<detail::StreamPool> &pool : pools_)
        if (pool->stream() == stream && !pool->ended())
            return pool;
    return nullptr;
}

std::shared_ptr<detail::StreamPool> ArrayContext::pool_of(StreamRef stream) {
    if (const std::shared_ptr<detail::CaptureMemory> capture = detail::CaptureMemory::of(stream))
        return capture->pool_of(stream.get(), context_);
    if (std::shared_ptr<detail::StreamPool> known = find_pool(stream.get()))
        return known;
    // Two threads may create a pool for one stream at the same time. Two pools do no harm.
    auto made = std::make_shared<detail::StreamPool>(stream.get(), context_);
    made->memory().on_out_of_memory([this] { free_waiting_blocks(); });
    const bool noted = context_.before_stream_ends(
        stream.get(), [context = weak_from_this(), handle = stream.get()] {
            if (const std::shared_ptr<ArrayContext> alive = context.lock())
                alive->end_pool(handle);
        });
    if (!noted)
        return nullptr;
    std::lock_guard lock(pools_mutex_);
    const auto ended = std::ranges::find_if(
        pools_, [&](const auto &pool) { return pool->ended() && pool->give_to(*made); });
    if (ended != pools_.end())
        *ended = made;
    else
        pools_.push_back(made);
    return made;
}

void ArrayContext::end_pool(CUstream stream) noexcept {
    std::vector<std::shared_ptr<detail::StreamPool>> unused; // destroyed without the lock
    std::lock_guard lock(pools_mutex_);
    for (const std::shared_ptr<detail::StreamPool> &pool : pools_)
        if (pool->stream() == stream && !pool->ended())
            pool->end();
    auto others = std::stable_partition(pools_.begin(), pools_.end(), [](const auto &pool) {
        return !pool->ended() || !pool->empty();
    });
    unused.assign(std::move_iterator(others), std::move_iterator(pools_.end()));
    pools_.erase(others, pools_.end());
}

StreamRef ArrayContext::side_stream() {
    std::lock_guard lock(side_mutex_);
    if (!side_)
        side_.emplace(context_, CU_STREAM_DEFAULT);
    return *side_;
}

std::shared_ptr<ArrayMemory> ArrayMemory::allocate(const std::shared_ptr<ArrayContext> &context,
                                                   std::size_t bytes, StreamRef stream) {
    if (allocator_of_thread != nullptr) [[unlikely]]
        return allocator_of_thread->allocate(context, bytes, stream);
    return from_pool(context, bytes, stream);
}

std::shared_ptr<ArrayMemory> ArrayMemory::from_pool(const std::shared_ptr<ArrayContext> &context,
                                                    std::size_t bytes, StreamRef stream) {
    if (!stream.is_default()) [[unlikely]]
        if (std::shared_ptr<detail::StreamPool> home = context->pool_of(stream)) {
            PooledMemory block = home->allocate(bytes);
            return std::make_shared<ArrayMemory>(context, std::move(block), std::move(home));
        }
    return std::make_shared<ArrayMemory>(context, context->pool().allocate(bytes));
}

std::shared_ptr<ArrayMemory> ArrayMemory::borrow(const std::shared_ptr<ArrayContext> &context,
                                                 CUdeviceptr address, std::size_t bytes,
                                                 std::shared_ptr<void> owner) {
    const int home = context->context().device().get();
    const int device = address == 0 ? home : only_device_of(address).value_or(home);
    if (device != home)
        throw std::invalid_argument(
            "the memory of an array is on device " + std::to_string(device) +
            ", but the current context is on device " + std::to_string(home));
    return std::make_shared<ArrayMemory>(context, address, bytes, std::move(owner));
}

ArrayMemory::ArrayMemory(std::shared_ptr<ArrayContext> context, PooledMemory memory,
                         std::shared_ptr<detail::StreamPool> home)
    : context_(std::move(context)), home_(std::move(home)), block_(std::move(memory)),
      address_(block_->get()), bytes_(block_->size()), is_exposed_(false) {}

ArrayMemory::ArrayMemory(std::shared_ptr<ArrayContext> context, CUdeviceptr address,
                         std::size_t bytes, std::shared_ptr<void> owner)
    : context_(std::move(context)), owner_(std::move(owner)), address_(address), bytes_(bytes),
      is_exposed_(true) {}

/// A block of the default stream's pool returns to the pool by itself.
ArrayMemory::~ArrayMemory() {
    if (home_ != nullptr || !uses_.empty()) [[unlikely]]
        give_back();
}

void ArrayMemory::throw_freed() const {
    throw Error("array_memory::get", CUDA_ERROR_INVALID_HANDLE,
                "the memory of this array, " + std::to_string(bytes_) + " bytes, has been freed");
}

void ArrayMemory::free() {
    if (freed_)
        throw_freed();
    freed_ = true; // before the wait, during which another thread may run
    give_back();
    owner_ = nullptr;
}

AllocatorScope::AllocatorScope(ArrayAllocator *allocator) noexcept
    : outer_(std::exchange(allocator_of_thread, allocator)) {}

AllocatorScope::~AllocatorScope() { allocator_of_thread = outer_; }

bool ArrayMemory::is_at_other_home(CUstream stream) const noexcept {
    return home_->stream() == stream;
}

bool ArrayMemory::is_of_graph() const noexcept { return home_ != nullptr && home_->capture() != 0; }

bool ArrayMemory::is_of_capture(std::uint64_t capture) const noexcept {
    return home_ != nullptr && home_->capture() == capture;
}

StreamRef ArrayMemory::home() const noexcept {
    return home_ == nullptr ? StreamRef() : StreamRef(home_->stream());
}

void ArrayMemory::used_until(const detail::StreamUse &use) {
    std::lock_guard lock(uses_mutex_);
    // A later event of the stream includes the earlier work.
    for (detail::StreamUse &earlier : uses_)
        if (use.stream != 0 && earlier.stream == use.stream) {
            if (earlier.turn < use.turn)
                earlier = use;
            return;
        }
    std::erase_if(uses_, [](const detail::StreamUse &other) { return other.done->is_over(); });
    uses_.push_back(use);
}

bool ArrayMemory::others_are_done(std::uint64_t stream) {
    std::lock_guard lock(uses_mutex_);
    return std::ranges::all_of(uses_, [&](const detail::StreamUse &use) {
        return (stream != 0 && use.stream == stream) || use.done->is_over();
    });
}

std::shared_ptr<Event> ArrayMemory::last_use(std::uint64_t stream) {
    std::lock_guard lock(uses_mutex_);
    for (const detail::StreamUse &use : uses_)
        if (stream != 0 && use.stream == stream)
            return use.done;
    return nullptr;
}

void ArrayMemory::give_back() noexcept {
    std::vector<detail::StreamUse> uses;
    {
        std::lock_guard lock(uses_mutex_);
        uses.swap(uses_);
    }
    if (home_ != nullptr && block_) {
        PooledMemory block = *std::exchange(block_, std::nullopt);
        if (is_shared_.load(std::memory_order_relaxed))
            home_->retire(std::move(block));
        else
            home_->take_back(std::move(block), uses);
        return;
    }
    // Memory that another library lent may go back to a pool, so this also waits for the uses.
    detail::wait_for_uses(context_->context(), nullptr, uses);
    block_.reset(); // may wait for the device
}

} // namespace pycuda
