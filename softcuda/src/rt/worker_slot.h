// worker_slot.h -- a worker slot, in which one thread at a time runs blocks, with the memory
// windows of the running block.
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

/// The sizes of the windows that a block of a launch needs, in bytes.
struct BlockMemory {
    std::uint64_t shared = 0;
    std::uint64_t local = 0;
    std::uint64_t scratch = 0;
    /// The stack of each warp that is a fiber, at least 1 MB. In the region tier, the stack for the
    /// thread that runs the blocks; 0: the thread's own stack.
    std::uint64_t stack = 0;
};

/// Memory for the values that warps store between regions. The offsets in generated code are always
/// valid.
class Scratch {
  public:
    /// Makes `bytes` bytes accessible. The earlier content may be lost. False if memory runs out.
    [[nodiscard]] bool provide(std::uint64_t bytes) noexcept;
    [[nodiscard]] std::byte *begin() const noexcept { return range_ ? range_->begin() : nullptr; }

  private:
    std::unique_ptr<ReservedRange> range_;
};

/// One worker slot of the pool. Their number is the number of threads that may run blocks at the
/// same time. Used by one thread at a time.
class alignas(64) WorkerSlot {
  public:
    WorkerSlot(unsigned index, unsigned count);
    ~WorkerSlot();

    /// Makes the windows for a launch accessible. False if memory runs out.
    [[nodiscard]] bool prepare(const BlockMemory &needs) noexcept;

    [[nodiscard]] WorkerState &state() noexcept { return state_; }
    /// The scheduler of this slot, which runs warps as fibers; created at its first use. Throws
    /// std::bad_alloc.
    [[nodiscard]] WarpScheduler &scheduler();
    /// The stack for blocks whose warps are not fibers. Valid after prepare() for a launch whose
    /// code needs a stack.
    [[nodiscard]] LargeStack &stack() noexcept { return stack_; }
    [[nodiscard]] unsigned index() const noexcept { return state_.worker_id; }

    /// Takes a free slot for the calling thread, which runs blocks of `grid`. False if the slot is
    /// in use. Any thread may call.
    [[nodiscard]] bool take(const Grid &grid, int thread) noexcept {
        const Grid *none = nullptr;
        if (grid_.load(std::memory_order_relaxed) || !grid_.compare_exchange_strong(none, &grid))
            return false;
        thread_id_.store(thread, std::memory_order_relaxed);
        return true;
    }
    void release() noexcept { grid_ = nullptr; }
    /// The grid whose blocks run here now, or null.
    [[nodiscard]] const Grid *grid() const noexcept { return grid_; }
    /// The thread that runs them.
    [[nodiscard]] int thread_id() const noexcept { return thread_id_; }

  private:
    std::atomic<const Grid *> grid_{nullptr};
    std::atomic<int> thread_id_{0};
    WorkerState state_{};
    Windows windows_;
    Scratch scratch_;
    LargeStack stack_;
    std::unique_ptr<WarpScheduler> scheduler_;
};

} // namespace softcuda::rt
