// system.h -- the driver's process-wide state: devices, memory, and objects.
#pragma once

#include "abi/extensions.h"
#include "device/address_space.h"
#include "device/device.h"
#include "device/host_function.h"
#include "device/schedule.h"
#include "device/timeline.h"
#include "rt/worker_pool.h"

#include <memory>
#include <vector>

namespace softcuda::device {

/// Created by cuInit and never destroyed: worker threads and destructors of clients may still use
/// it while the process exits.
class System {
  public:
    /// Creates the system at the first call. Throws Error(not initialized) in a forked child.
    static System &start();

    /// The running system. Throws Error(not initialized) before start(), and in a child that was
    /// forked from a process that had started it: threads and locks do not survive fork.
    static System &get();

    /// The description of a device. If this process has not started the system, also in a forked
    /// child, describes the device as the system would create it. Throws Error(invalid device).
    static ScuDevice describe(int ordinal);

    [[nodiscard]] int device_count() const noexcept { return static_cast<int>(devices_.size()); }
    /// Throws Error(invalid device).
    [[nodiscard]] Device &device(int ordinal) const;
    [[nodiscard]] AddressSpace &memory() noexcept { return memory_; }
    [[nodiscard]] Timeline &timeline() noexcept { return timeline_; }
    [[nodiscard]] rt::WorkerPool &pool() noexcept { return pool_; }
    [[nodiscard]] HostThread &host_thread() noexcept { return host_thread_; }

  private:
    struct Settings;

    /// The settings in the environment. Throws Error(invalid value) for a wrong setting, after a
    /// line on stderr: a program must not run on other devices than requested.
    static Settings settings();

    /// The memory of one device, if `most` bytes of addresses are available for all devices.
    static std::uint64_t memory_of_each(const Settings &settings, std::uint64_t most);
    static ScuDevice describe_planned(int ordinal);
    [[nodiscard]] ScuDevice describe_running(int ordinal);

    explicit System(const Settings &settings);

    AddressSpace memory_;
    std::unique_ptr<Schedule> schedule_; ///< null unless SOFTCUDA_SCHEDULE is set
    Timeline timeline_;
    rt::WorkerPool pool_;
    HostThread host_thread_;
    std::vector<std::unique_ptr<Device>> devices_;
};

} // namespace softcuda::device
