// code_ranges.cpp -- a list that grows and is read without a lock.
//
// Slots are never freed, only emptied and filled again, so a reader can walk the list at any time.
// A slot may change while it is read. Code that runs is registered before and after, so a slot that
// changes is not the slot of an address in such code.
#include "rt/code_ranges.h"

#include <array>
#include <atomic>
#include <mutex>

namespace softcuda::rt {
namespace {

class Slot {
  public:
    /// For one writer at a time.
    void set(std::uint64_t begin, std::uint64_t end) noexcept {
        const std::uint64_t generation = generation_.load(std::memory_order_relaxed);
        generation_.store(generation + 1, std::memory_order_relaxed);
        begin_.store(begin, std::memory_order_release);
        end_.store(end, std::memory_order_release);
        generation_.store(generation + 2, std::memory_order_release);
    }
    [[nodiscard]] std::uint64_t begin() const noexcept {
        return begin_.load(std::memory_order_relaxed);
    }
    /// Never waits: a signal handler may have interrupted the writer.
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        const std::uint64_t generation = generation_.load(std::memory_order_acquire);
        const std::uint64_t begin = begin_.load(std::memory_order_acquire);
        const std::uint64_t end = end_.load(std::memory_order_acquire);
        return begin <= address && address < end && generation % 2 == 0 &&
               generation_.load(std::memory_order_relaxed) == generation;
    }

  private:
    std::atomic<std::uint64_t> generation_{0}; ///< odd while the slot changes
    std::atomic<std::uint64_t> begin_{0};      ///< 0: empty
    std::atomic<std::uint64_t> end_{0};
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
    auto is_empty = [](const Slot &slot) { return slot.begin() == 0; };
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
    empty_slot().set(address, address + bytes);
}

void unregister_code(const void *begin) noexcept {
    const auto address = reinterpret_cast<std::uint64_t>(begin);
    std::lock_guard lock(writers);
    if (Slot *slot = find_slot([&](const Slot &s) { return s.begin() == address; }))
        slot->set(0, 0);
}

bool is_generated_code(std::uint64_t address) noexcept {
    return find_slot([&](const Slot &slot) { return slot.contains(address); }) != nullptr;
}

} // namespace softcuda::rt
