// memory_pool.cpp -- stream-ordered allocation.
#include "device/memory_pool.h"

#include "device/context.h"
#include "device/error.h"
#include "device/graphs/capture.h"
#include "device/graphs/graph_memory.h"
#include "device/host_function.h"
#include "device/pool_file.h"
#include "device/registry.h"
#include "device/system.h"

#include <chrono>
#include <optional>
#include <thread>

namespace softcuda::device {

namespace {

/// The number of frees that their streams have not reached.
std::atomic<std::uint64_t> pending_frees{0};
struct PendingFree {
    PendingFree() noexcept { pending_frees++; }
    PendingFree(const PendingFree &) = delete;
    ~PendingFree() { pending_frees--; }
};

/// The address of a node of the graph that the stream captures, or 0 if it does not capture.
std::uint64_t capture_allocation(Stream &stream, const PoolPlace &place, std::uint64_t bytes) {
    if (!capture::any() || capture::state(stream).status == CU_STREAM_CAPTURE_STATUS_NONE)
        return 0;
    AllocateWork work;
    work.memory = GraphMemory::make(place, stream.context(), bytes);
    work.described.poolProps.allocType = place.type;
    work.described.poolProps.location = place.location;
    work.described.bytesize = bytes;
    const std::uint64_t address = work.described.dptr = work.memory->address();
    require(capture::add(stream, std::move(work)), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    return address;
}

/// Whether a node of the captured graph frees `memory`.
bool capture_free(Stream &stream, const std::shared_ptr<GraphMemory> &memory) {
    if (!capture::any() || capture::state(stream).status == CU_STREAM_CAPTURE_STATUS_NONE)
        return false;
    require(memory != nullptr, CUDA_ERROR_INVALID_VALUE); // not memory of a graph
    return capture::add(stream, FreeWork{memory});
}

} // namespace

std::uint64_t MemoryPool::allocate(Stream &stream, std::uint64_t bytes) {
    require(!file_ || file_->is_own(), CUDA_ERROR_INVALID_VALUE);
    if (bytes == 0)
        return 0;
    if (const std::uint64_t captured = capture_allocation(stream, place_, bytes))
        return captured;
    take(bytes);
    try {
        return allocate_or_wait({.size = bytes,
                                 .kind = MemoryKind::Pool,
                                 .device = &device_,
                                 .context = &stream.context(),
                                 .flags = 0,
                                 .pool = this,
                                 .client_memory = place_.client_memory(),
                                 .file = file_,
                                 .offset_in_other = 0});
    } catch (...) {
        used_ -= bytes;
        throw;
    }
}

std::uint64_t MemoryPool::open(Context &context, std::uint64_t offset, std::uint64_t bytes) {
    require(file_ && !file_->is_own() && bytes > 0 && file_->contains(offset, bytes),
            CUDA_ERROR_INVALID_VALUE);
    const std::uint64_t address =
        System::get().memory().allocate({.size = bytes,
                                         .kind = MemoryKind::Pool,
                                         .device = &device_,
                                         .context = &context,
                                         .flags = 0,
                                         .pool = this,
                                         .client_memory = place_.client_memory(),
                                         .file = file_,
                                         .offset_in_other = offset});
    take(bytes);
    return address;
}

/// Counts allocated bytes.
void MemoryPool::take(std::uint64_t bytes) {
    std::uint64_t used = used_;
    do
        require(most_bytes_ == 0 || (bytes <= most_bytes_ && used <= most_bytes_ - bytes),
                CUDA_ERROR_OUT_OF_MEMORY);
    while (!used_.compare_exchange_weak(used, used + bytes));
    std::uint64_t high = used_high_;
    while (high < used + bytes && !used_high_.compare_exchange_weak(high, used + bytes)) {
    }
}

void MemoryPool::free(Stream &stream, std::uint64_t address) {
    const std::shared_ptr<GraphMemory> graph_memory = GraphMemory::find(address);
    if (capture_free(stream, graph_memory))
        return;
    if (graph_memory) {
        require(graph_memory->set_allocated(false), CUDA_ERROR_INVALID_VALUE);
        return enqueue_action(stream,
                              [graph_memory] { GraphMemory::end_use(graph_memory->address()); });
    }
    System &system = System::get();
    const std::optional<Allocation> allocation = system.memory().find(address);
    require(allocation && allocation->address == address && allocation->kind == MemoryKind::Pool,
            CUDA_ERROR_INVALID_VALUE);
    auto pending = std::make_shared<PendingFree>();
    auto action = std::make_shared<Action>(
        stream.context(), [freed = *allocation, pending = std::move(pending)]() mutable {
            try {
                free_now(freed);
            } catch (const Error &) {
                // Freed twice: the second free finds no allocation.
            }
            pending = nullptr;
        });
    if (system.timeline().append(stream, action))
        action->start();
}

void MemoryPool::free_now(const Allocation &allocation) {
    System::get().memory().free(allocation.address, MemoryKind::Pool);
    // The client may have destroyed the pool.
    if (const auto pool = registry<MemoryPool>().find(allocation.pool))
        pool->used_ -= allocation.size;
}

void MemoryPool::free_all(const Context &context) {
    for (const Allocation &allocation : System::get().memory().allocations(&context))
        if (allocation.kind == MemoryKind::Pool)
            try {
                free_now(allocation);
            } catch (const Error &) {
                // Another thread has freed it since.
            }
}

std::uint64_t allocate_or_wait(const AddressSpace::Request &request) {
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> give_up;
    for (;;) {
        const bool hope = pending_frees > 0;
        try {
            return System::get().memory().allocate(request);
        } catch (const Error &error) {
            if (error.result() != CUDA_ERROR_OUT_OF_MEMORY || !hope)
                throw;
            if (!give_up)
                give_up = Clock::now() + std::chrono::seconds(1);
            if (Clock::now() > *give_up)
                throw;
        }
        System::get().timeline().let_advance();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

std::uint64_t MemoryPool::attribute(CUmemPool_attribute attribute) const {
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        return reuse_follow_;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        return reuse_opportunistic_;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        return reuse_internal_;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return release_threshold_;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: // freed memory is not kept
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return used_;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return used_high_;
    default:
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
}

void MemoryPool::set_attribute(CUmemPool_attribute attribute, std::uint64_t value) {
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        reuse_follow_ = value;
        return;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        reuse_opportunistic_ = value;
        return;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        reuse_internal_ = value;
        return;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        release_threshold_ = value;
        return;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        require(value == 0, CUDA_ERROR_INVALID_VALUE); // it can only be reset
        used_high_ = used_.load();
        return;
    default:
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
}

} // namespace softcuda::device
