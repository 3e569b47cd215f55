// cluster.h -- blocks that run together: their barrier, and the addresses of their shared memory.
//
// All blocks of a cluster are resident on one thread, from the start of the first warp to the end
// of the last one. A block that was launched alone is a cluster of its own.
//
// An address in shared::cluster has 32 bits, which say whose memory is meant:
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
    /// Forgets everything; `warps` will be the number of warps of all its blocks.
    void begin(std::uint32_t warps) noexcept;
    /// Blocks come in the order of their ranks.
    void add(ResidentBlock &block) noexcept { blocks_[count_++] = &block; }
    [[nodiscard]] std::span<ResidentBlock *const> blocks() const noexcept {
        return std::span(blocks_).first(count_);
    }
    [[nodiscard]] bool done() const noexcept { return live_ == 0; }

    /// A warp arrives at the barrier, which does not make it wait. Those that the barrier lets go
    /// are put into `ready`. Ends the launch if the warp has not waited since it last arrived.
    void arrive(WarpFiber &warp, const char *place, WarpQueue &ready);
    /// Whether the warp may go on; if not, it waits until it is in `ready`. Ends the launch if the
    /// warp has not arrived.
    [[nodiscard]] bool pass(WarpFiber &warp, const char *place);
    /// A warp is done, which may be what the barrier waited for.
    void end_warp(const WarpFiber &warp, WarpQueue &ready);
    /// Ends the launch: no warp of the thread can go on.
    [[noreturn]] void report_deadlock() const;

    /// The block whose shared memory the generic address is in; null: none of the cluster's.
    [[nodiscard]] ResidentBlock *owner_of(std::uint64_t address, std::uint64_t size) const noexcept;

  private:
    void complete(WarpQueue &ready);

    std::array<ResidentBlock *, kMostClusterBlocks> blocks_{};
    std::uint32_t count_ = 0;
    std::uint32_t live_ = 0;    ///< warps that have not ended
    std::uint32_t arrived_ = 0; ///< in this phase
    std::uint32_t gone_ = 0;    ///< warps that have arrived in this phase and ended
    std::uint64_t phase_ = 0;
    const char *place_ = ""; ///< where the last one arrived
    WarpQueue waiting_;
};

/// Whether the bytes are shared memory of a block of the worker's cluster that has not ended.
[[nodiscard]] bool cluster_contains(const WorkerState *worker, std::uint64_t address,
                                    std::uint64_t size) noexcept;

/// The generic address that one in shared::cluster stands for. Ends the launch where the cluster
/// has no such block. `lane` is for the report.
[[nodiscard]] std::uint64_t from_cluster_address(WorkerState *worker, std::uint32_t address,
                                                 std::uint32_t lane);
/// The reverse; an address that is in no block's shared memory counts from the own one's.
[[nodiscard]] std::uint32_t to_cluster_address(WorkerState *worker, std::uint64_t address);
/// The rank of the block that has the generic address; the own one where none has.
[[nodiscard]] std::uint32_t rank_of(WorkerState *worker, std::uint64_t address);
/// The same place in the block of that rank. Ends the launch where the cluster has no such block.
[[nodiscard]] std::uint64_t map_rank(WorkerState *worker, std::uint64_t address, std::uint32_t rank,
                                     std::uint32_t lane);

} // namespace softcuda::rt
