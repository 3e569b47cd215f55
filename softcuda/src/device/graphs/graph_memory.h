// graph_memory.h -- memory whose address belongs to a graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace softcuda::device {

class Context;
struct PoolPlace;

/// The memory that a node of a graph allocates: the same address at each launch. It is in use from
/// the launch of that node to the launch of a node that frees it, or to the client's cuMemFree. The
/// memory is freed when it is not in use and no graph owns it. Any thread may call any function.
class GraphMemory {
  public:
    /// Throws Error(out of memory, invalid value).
    static std::shared_ptr<GraphMemory> make(const PoolPlace &place, Context &context,
                                             std::uint64_t bytes);
    GraphMemory(const GraphMemory &) = delete;
    GraphMemory &operator=(const GraphMemory &) = delete;
    ~GraphMemory();

    [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    /// The memory that starts at an address, or null.
    [[nodiscard]] static std::shared_ptr<GraphMemory> find(std::uint64_t address);

    /// Whether the client may use and free the memory: from the call that launches the graph to the
    /// call that frees the memory or launches the node that frees it.
    [[nodiscard]] bool is_allocated() const noexcept { return allocated_; }
    /// Returns whether it was allocated.
    bool set_allocated(bool allocated) noexcept { return allocated_.exchange(allocated); }

    static void begin_use(const std::shared_ptr<GraphMemory> &memory);
    static void end_use(std::uint64_t address);

    /// The bytes in use or reserved for graphs, and their maximum since reset_high().
    struct Statistics {
        std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
    };
    [[nodiscard]] static Statistics statistics();
    static void reset_used_high();
    static void reset_reserved_high();

  private:
    GraphMemory(std::uint64_t address, std::uint64_t bytes) noexcept
        : address_(address), bytes_(bytes) {}

    std::uint64_t address_, bytes_;
    std::atomic<bool> allocated_{false};
};

} // namespace softcuda::device
