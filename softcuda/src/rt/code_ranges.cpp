// code_ranges.cpp -- a list that grows and is read without a lock.
//
// Slots are never freed, only emptied and filled again, so a reader can walk the list at any time.
#include "rt/code_ranges.h"

#include <array>
#include <atomic>
#include <mutex>

namespace softcuda::rt {
namespace {

struct Slot {
    std::atomic<std::uint64_t> begin{0}; ///< 0: empty
    std::atomic<std::uint64_t> end{0};
};

struct Chunk {
    std::array<Slot, 256> slots;
    std::atomic<Chunk *> next{nullptr};
};

Chunk first_chunk;
std::mutex writers;

/// The first slot that `wanted` accepts, or null.
template <class Wanted> Slot *find_slot(Wanted wanted) noexcept {
    for (Chunk *chunk = &first_chunk; chunk; chunk = chunk->next.load(std::memory_order_acquire))
        for (Slot &slot : chunk->slots)
            if (wanted(slot))
                return &slot;
    return nullptr;
}

Slot &empty_slot() {
    auto is_empty = [](const Slot &slot) { return slot.begin.load() == 0; };
    if (Slot *slot = find_slot(is_empty))
        return *slot;
    auto *chunk = new Chunk;
    chunk->next = first_chunk.next.load();
    first_chunk.next.store(chunk, std::memory_order_release);
    return chunk->slots.front();
}

} // namespace

void register_code(const void *begin, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uint64_t>(begin);
    std::lock_guard lock(writers);
    Slot &slot = empty_slot();
    slot.end = address + bytes;
    slot.begin.store(address, std::memory_order_release);
}

void unregister_code(const void *begin) noexcept {
    const auto address = reinterpret_cast<std::uint64_t>(begin);
    std::lock_guard lock(writers);
    if (Slot *slot = find_slot([&](const Slot &s) { return s.begin.load() == address; }))
        slot->begin = 0;
}

bool is_generated_code(std::uint64_t address) noexcept {
    return find_slot([&](const Slot &slot) {
               const std::uint64_t begin = slot.begin.load(std::memory_order_acquire);
               return begin != 0 && address >= begin && address < slot.end.load();
           }) != nullptr;
}

} // namespace softcuda::rt
