// lane_caller.h -- the lane for which the runtime accesses memory: checks, reports, barriers.
#pragma once

#include "rt/guard.h"
#include "rt/kernel_abi.h"
#include "rt/watch_abi.h"

#include <cstdint>

namespace softcuda::rt {

/// One lane of a warp that executes an instruction which a function of the runtime carries out.
/// Everything that fails ends the launch by a jump: nothing that owns memory may be alive in the
/// callers.
class LaneCaller {
  public:
    /// `sites`: null where the kernel is not checked, else those of scu_runtime_call.
    LaneCaller(WorkerState *worker, const LaunchFrame *frame, void *sites, unsigned lane)
        : worker_(worker), frame_(frame), sites_(static_cast<WatchSite *>(sites)), lane_(lane) {}

    /// Tells the checks of an access to all these bytes, and ends the launch unless the kernel may
    /// access them: device memory, registered memory of the host, shared memory of the cluster.
    void require(std::uint64_t address, std::uint64_t bytes, Access access) const;
    /// Ends the launch where the address is no multiple of `alignment`.
    void require_alignment(std::uint64_t address, std::uint64_t alignment, Access access) const;
    /// Ends the launch unless the bytes are shared memory of a block of the cluster that has not
    /// ended. `what` names them.
    void require_shared(std::uint64_t address, std::uint64_t bytes, const char *what) const;

    /// How far from the begin of its block's shared memory an address there is.
    [[nodiscard]] std::uint64_t offset_in_block(std::uint64_t address) const;
    /// The same place in the shared memory of the block of that rank.
    [[nodiscard]] std::uint64_t in_block(std::uint64_t address, std::uint32_t rank) const;
    /// An mbarrier counts so many bytes as having come, once.
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
