// seat.h -- a place where a thread can run blocks: the block's windows of memory and who sits
// there.
#pragma once

#include "rt/kernel_abi.h"
#include "rt/large_stack.h"
#include "rt/reserved_range.h"
#include "rt/windows.h"

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
    /// Of each warp that is a fiber, which gets at least 1 MB. Else of a stack for the thread that
    /// runs the blocks; 0: the thread's own.
    std::uint64_t stack = 0;
};

/// Memory for what warps keep between regions, at offsets that generated code knows to be within.
class Scratch {
  public:
    /// Makes `bytes` accessible. What was there before may be gone. False when there is no memory.
    [[nodiscard]] bool provide(std::uint64_t bytes) noexcept;
    [[nodiscard]] std::byte *begin() const noexcept { return range_ ? range_->begin() : nullptr; }

  private:
    std::unique_ptr<ReservedRange> range_;
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
    /// After prepare() for a launch whose code needs a stack. Blocks whose warps are no fibers run
    /// on it.
    [[nodiscard]] LargeStack &stack() noexcept { return stack_; }
    [[nodiscard]] unsigned index() const noexcept { return state_.worker_id; }

    // Guarded by the pool's mutex:
    Grid *grid = nullptr; ///< whose blocks are run here now
    int thread_id = 0;    ///< by which thread

  private:
    WorkerState state_{};
    Windows windows_;
    Scratch scratch_;
    LargeStack stack_;
    std::unique_ptr<WarpScheduler> scheduler_;
};

} // namespace softcuda::rt
