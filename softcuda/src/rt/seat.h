// seat.h -- a place where a thread can run blocks: the block's windows of memory and who sits
// there.
#pragma once

#include "rt/kernel_abi.h"
#include "rt/reserved_range.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace softcuda::rt {

class Grid;
class WarpScheduler;

/// How much of each window a block of some launch needs. Bytes.
struct BlockMemory {
    std::uint64_t shared = 0;
    std::uint64_t local = 0;
    std::uint64_t scratch = 0;
};

/// A window of addresses for signed 32-bit offsets: as much as was asked for is open, from offset 0
/// on; the rest faults.
class Window {
  public:
    /// Makes the first `bytes` accessible. False when there is no memory for it.
    [[nodiscard]] bool provide(std::uint64_t bytes) noexcept;
    [[nodiscard]] std::byte *begin() const noexcept {
        return range_ ? range_->begin() + kBelow : nullptr;
    }

    /// Whether `address` lies in a window that starts at `begin`.
    static bool contains(const std::byte *begin, std::uint64_t address) noexcept {
        return begin && address - reinterpret_cast<std::uint64_t>(begin) + kBelow < kBelow + kBytes;
    }

  private:
    static constexpr std::uint64_t kBytes = std::uint64_t{1} << 32;
    static constexpr std::uint64_t kBelow = (std::uint64_t{1} << 31) + (64 << 10);
    std::unique_ptr<ReservedRange> range_;
    std::uint64_t open_ = 0;
};

/// One of the places of the pool; there are as many as threads may run blocks at the same time.
/// Used by one thread at a time.
class alignas(64) Seat {
  public:
    Seat(unsigned index, unsigned count);
    ~Seat();

    /// Opens the windows for a launch. False when there is no memory for it.
    [[nodiscard]] bool prepare(const BlockMemory &needs) noexcept;

    [[nodiscard]] WorkerState &state() noexcept { return state_; }
    /// What runs warps as fibers here; made on first use. Throws std::bad_alloc.
    [[nodiscard]] WarpScheduler &scheduler();
    [[nodiscard]] unsigned index() const noexcept { return state_.worker_id; }

    // Guarded by the pool's mutex:
    Grid *grid = nullptr; ///< whose blocks are run here now
    int thread_id = 0;    ///< by which thread

  private:
    WorkerState state_{};
    Window shared_;
    Window local_;
    Window scratch_;
    std::unique_ptr<WarpScheduler> scheduler_;
};

} // namespace softcuda::rt
