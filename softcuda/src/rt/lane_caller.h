// lane_caller.h -- the lane for which the runtime accesses memory: checks, reports, barriers.
#pragma once

#include "rt/copy_end.h"
#include "rt/guard.h"
#include "rt/kernel_abi.h"
#include "rt/watch_abi.h"

#include <cstdint>

namespace softcuda::rt {

/// One lane of a warp that executes an instruction in a function of the runtime. A failure ends the
/// launch by a jump, so the callers must not own resources.
class LaneCaller {
  public:
    /// `sites`: null if the kernel is not checked, else the sites of scu_runtime_call.
    LaneCaller(WorkerState *worker, const LaunchFrame *frame, void *sites, unsigned lane)
        : worker_(worker), frame_(frame), sites_(static_cast<WatchSite *>(sites)), lane_(lane) {}

    /// Reports an access to these bytes to the checks. Ends the launch unless the bytes are device
    /// memory, registered host memory or shared memory of the cluster.
    /// `end`: of an asynchronous access.
    void require(std::uint64_t address, std::uint64_t bytes, Access access,
                 const CopyEnd &end = {}) const;
    /// Ends the launch if the address is not a multiple of `alignment`.
    void require_alignment(std::uint64_t address, std::uint64_t alignment, Access access) const;
    /// Ends the launch unless the bytes are shared memory of a block of the cluster that has not
    /// ended. `what` names the bytes in the message.
    void require_shared(std::uint64_t address, std::uint64_t bytes, const char *what) const;

    /// The offset of an address in its block's shared memory.
    [[nodiscard]] std::uint64_t offset_in_block(std::uint64_t address) const;
    /// The same offset in the shared memory of the block with this rank.
    [[nodiscard]] std::uint64_t in_block(std::uint64_t address, std::uint32_t rank) const;
    /// Completes one transaction of this number of bytes at an mbarrier, when the accesses of its
    /// copy have been reported.
    void complete_transactions(std::uint64_t barrier, std::uint64_t bytes) const;

    [[noreturn, gnu::format(printf, 4, 5)]] void fail(Fault kind, std::uint64_t address,
                                                      const char *format, ...) const;

    [[nodiscard]] WorkerState *worker() const noexcept { return worker_; }
    [[nodiscard]] unsigned lane() const noexcept { return lane_; }

  private:
    [[nodiscard]] bool may_access(std::uint64_t address, std::uint64_t bytes) const;

    WorkerState *worker_;
    const LaunchFrame *frame_;
    WatchSite *sites_;
    unsigned lane_;
};

} // namespace softcuda::rt
