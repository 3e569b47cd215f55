// system.h -- the driver's process-wide state: devices, memory, and live objects.
#pragma once

#include "device/address_space.h"
#include "device/device.h"
#include "device/host_function.h"
#include "device/timeline.h"
#include "rt/worker_pool.h"

#include <memory>
#include <vector>

namespace softcuda::device {

/// Made by cuInit and never destroyed: worker threads and clients' own destructors may still use it
/// while the process exits.
class System {
  public:
    /// Makes the system on the first call. Throws Error(not initialized) in a forked child.
    static System &start();

    /// The running system. Throws Error(not initialized) before start(), and in a child that was
    /// forked from a process that had started it: threads and locks do not survive fork.
    static System &get();

    [[nodiscard]] int device_count() const noexcept { return static_cast<int>(devices_.size()); }
    /// Throws Error(invalid device).
    [[nodiscard]] Device &device(int ordinal) const;
    [[nodiscard]] AddressSpace &memory() noexcept { return memory_; }
    [[nodiscard]] Timeline &timeline() noexcept { return timeline_; }
    [[nodiscard]] rt::WorkerPool &pool() noexcept { return pool_; }
    [[nodiscard]] HostThread &host_thread() noexcept { return host_thread_; }

  private:
    struct Settings;

    /// Of the environment. Throws Error(invalid value) where one is wrong, after a line on stderr:
    /// a program must not run on other devices than those asked for.
    static Settings settings();

    explicit System(const Settings &settings);

    AddressSpace memory_;
    Timeline timeline_;
    rt::WorkerPool pool_;
    HostThread host_thread_;
    std::vector<std::unique_ptr<Device>> devices_;
};

} // namespace softcuda::device
