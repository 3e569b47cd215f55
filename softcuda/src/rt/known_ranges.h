// known_ranges.h -- memory outside the arena that the accesses of a worker have used.
//
// Generated code compares an address with the arena, then with the range that the same instruction
// has used last, and asks the runtime only then. So the client's registered memory, and shared and
// local memory behind a generic address, cost one more comparison. The ranges are valid within one
// launch: a client must not unregister memory that a running kernel uses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softcuda::rt {

/// The operation of a lane, or of a whole warp, that caused a fault.
enum class Access : std::uint32_t { Load, Store, Atomic };

/// Bytes that may be accessed; 0: none.
struct KnownRange {
    std::uint64_t begin = 0, bytes = 0;

    [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t size) const noexcept {
        return size <= bytes && address - begin <= bytes - size;
    }
};

/// An instruction that accesses memory; passed in a register.
struct AccessSite {
    std::uint8_t access;     ///< an rt::Access
    std::uint8_t number;     ///< of its range in KnownRanges::of_sites
    std::uint16_t alignment; ///< that is checked
};

/// The memory in which an access of lanes has its addresses.
enum class LaneMemory : std::uint8_t {
    Any,   ///< an address outside device memory is checked
    Known, ///< valid, or memory that faults: only the alignment is checked
};

struct KnownRanges {
    /// Instructions with the same remainder share a range. Loads have their own ranges, since only
    /// they may access a kernel's parameters.
    static constexpr unsigned kSites = 8, kRecent = 8;

    [[nodiscard]] static constexpr std::uint8_t number_of(Access access, unsigned site) noexcept {
        return static_cast<std::uint8_t>(site % kSites + (access == Access::Load ? 0 : kSites));
    }

    KnownRange of_sites[2 * kSites];
    KnownRange recent[2][kRecent]; ///< for loads, and for stores and atomics
    std::uint32_t next[2] = {};    ///< of `recent`, that will be replaced
    bool used = false;             ///< any range is not empty

    /// Before a launch, or if some of the memory may no longer be accessed.
    void forget() noexcept {
        if (used)
            *this = {};
    }
};

struct LaunchFrame;
struct WorkerState;

/// The range with an access outside the arena: registered host memory, or, through a generic
/// address, shared or local memory, or the kernel's parameters for a load. Empty if it may not be
/// accessed.
[[nodiscard]] KnownRange find_known_range(WorkerState *worker, const LaunchFrame *frame,
                                          std::uint64_t address, std::uint64_t size,
                                          Access access) noexcept;

} // namespace softcuda::rt
