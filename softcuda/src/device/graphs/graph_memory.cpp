// graph_memory.cpp -- the owners and users of graphs' memory.
#include "device/graphs/graph_memory.h"

#include "device/error.h"
#include "device/memory_pool.h"
#include "device/system.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace softcuda::device {
namespace {

struct MemoryTable {
    std::mutex mutex;
    std::map<std::uint64_t, std::weak_ptr<GraphMemory>> known;
    std::map<std::uint64_t, std::shared_ptr<GraphMemory>> in_use;
    GraphMemory::Statistics statistics;
};

/// Never destroyed: destructors of clients may still free graphs.
MemoryTable &memory_table() {
    static auto *const instance = new MemoryTable;
    return *instance;
}

void add(std::uint64_t &now, std::uint64_t &high, std::uint64_t bytes) {
    now += bytes;
    high = std::max(high, now);
}

} // namespace

std::shared_ptr<GraphMemory> GraphMemory::make(const PoolPlace &place, Context &context,
                                               std::uint64_t bytes) {
    const std::uint64_t address =
        System::get().memory().allocate({.size = bytes,
                                         .kind = MemoryKind::Graph,
                                         .device = &place.device(),
                                         .context = &context,
                                         .client_memory = place.client_memory()});
    std::shared_ptr<GraphMemory> made(new GraphMemory(address, bytes));
    std::lock_guard lock(memory_table().mutex);
    memory_table().known[address] = made;
    add(memory_table().statistics.reserved, memory_table().statistics.reserved_high, bytes);
    return made;
}

GraphMemory::~GraphMemory() {
    {
        std::lock_guard lock(memory_table().mutex);
        memory_table().known.erase(address_);
        memory_table().statistics.reserved -= bytes_;
    }
    try {
        System::get().memory().free(address_, MemoryKind::Graph);
    } catch (const Error &) {
        // The memory was freed with its context.
    }
}

std::shared_ptr<GraphMemory> GraphMemory::find(std::uint64_t address) {
    std::lock_guard lock(memory_table().mutex);
    const auto position = memory_table().known.find(address);
    return position == memory_table().known.end() ? nullptr : position->second.lock();
}

void GraphMemory::begin_use(const std::shared_ptr<GraphMemory> &memory) {
    std::lock_guard lock(memory_table().mutex);
    if (memory_table().in_use.emplace(memory->address_, memory).second)
        add(memory_table().statistics.used, memory_table().statistics.used_high, memory->bytes_);
}

void GraphMemory::end_use(std::uint64_t address) {
    std::shared_ptr<GraphMemory> last; // destroyed after the lock is released
    std::lock_guard lock(memory_table().mutex);
    const auto position = memory_table().in_use.find(address);
    if (position == memory_table().in_use.end())
        return;
    last = std::move(position->second);
    memory_table().in_use.erase(position);
    memory_table().statistics.used -= last->bytes_;
}

GraphMemory::Statistics GraphMemory::statistics() {
    std::lock_guard lock(memory_table().mutex);
    return memory_table().statistics;
}

void GraphMemory::reset_used_high() {
    std::lock_guard lock(memory_table().mutex);
    memory_table().statistics.used_high = memory_table().statistics.used;
}

void GraphMemory::reset_reserved_high() {
    std::lock_guard lock(memory_table().mutex);
    memory_table().statistics.reserved_high = memory_table().statistics.reserved;
}

} // namespace softcuda::device
