// cluster.h -- blocks that run together: their barrier, and the addresses of their shared memory.
//
// All blocks of a cluster are resident on one thread, from the start of the first warp to the end
// of the last warp. In a launch without clusters, each block is a cluster of one block.
//
// An address in shared::cluster has 32 bits, which select the block:
//
//     0              | offset         the own block's: an address in shared::cta is one, too
//     rank + 1 << 24 | offset         that of the block of this rank
#pragma once

#include "rt/kernel_abi.h"
#include "rt/warp_fiber.h"

#include <array>
#include <cstdint>
#include <span>

namespace softcuda::rt {

/// The most blocks that a cluster may have.
inline constexpr std::uint32_t kMostClusterBlocks = 16;

class Cluster {
  public:
    /// Resets the state for a cluster with `warps` warps in all its blocks.
    void begin(std::uint32_t warps) noexcept;
    /// Adds a block; blocks are added in the order of their ranks.
    void add(ResidentBlock &block) noexcept { blocks_[count_++] = &block; }
    [[nodiscard]] std::span<ResidentBlock *const> blocks() const noexcept {
        return std::span(blocks_).first(count_);
    }
    [[nodiscard]] bool done() const noexcept { return live_ == 0; }

    /// A warp arrives at the barrier without waiting. If this completes the barrier, the waiting
    /// warps are added to `ready`. Ends the launch if the warp has not waited since its last
    /// arrival.
    void arrive(WarpFiber &warp, const char *place, WarpQueue &ready);
    /// Whether the warp can continue. If not, it waits until it is added to `ready`. Ends the
    /// launch if the warp has not arrived.
    [[nodiscard]] bool pass(WarpFiber &warp, const char *place);
    /// A warp has ended, which may complete the barrier.
    void end_warp(const WarpFiber &warp, WarpQueue &ready);
    /// Ends the launch: no warp of the thread can continue.
    [[noreturn]] void report_deadlock() const;

    /// The block whose shared memory contains the generic address; null if it is no block of the
    /// cluster.
    [[nodiscard]] ResidentBlock *owner_of(std::uint64_t address, std::uint64_t size) const noexcept;

  private:
    void complete(WarpQueue &ready);

    std::array<ResidentBlock *, kMostClusterBlocks> blocks_{};
    std::uint32_t count_ = 0;
    std::uint32_t live_ = 0;    ///< warps that have not ended
    std::uint32_t arrived_ = 0; ///< in this phase
    std::uint32_t gone_ = 0;    ///< warps that have arrived in this phase and ended
    std::uint64_t phase_ = 0;
    const char *place_ = ""; ///< the place of the last arrival
    WarpQueue waiting_;
};

/// The shared memory with these bytes, of a block of the worker's cluster that has not ended;
/// empty: there is none.
[[nodiscard]] KnownRange cluster_range(const WorkerState *worker, std::uint64_t address,
                                       std::uint64_t size) noexcept;
/// Whether there is one.
[[nodiscard]] bool cluster_contains(const WorkerState *worker, std::uint64_t address,
                                    std::uint64_t size) noexcept;

/// The generic address of an address in shared::cluster. Ends the launch if the cluster has no such
/// block. `lane` is for the report.
[[nodiscard]] std::uint64_t from_cluster_address(WorkerState *worker, std::uint32_t address,
                                                 std::uint32_t lane);
/// The reverse conversion. An address outside shared memory is converted relative to the own
/// block's shared memory.
[[nodiscard]] std::uint32_t to_cluster_address(WorkerState *worker, std::uint64_t address);
/// The rank of the block whose shared memory contains the generic address; the own rank if there is
/// none.
[[nodiscard]] std::uint32_t rank_of(WorkerState *worker, std::uint64_t address);
/// The address of the same variable in the block with this rank (mapa). Ends the launch if the
/// cluster has no such block.
[[nodiscard]] std::uint64_t map_rank(WorkerState *worker, std::uint64_t address, std::uint32_t rank,
                                     std::uint32_t lane);

} // namespace softcuda::rt
