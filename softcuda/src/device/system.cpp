// system.cpp -- makes the devices as the environment asks for them.
//
//   SOFTCUDA_DEVICES   how many devices (1)
//   SOFTCUDA_MEMORY    bytes of each device's memory, K, M, G, T allowed (its share of 3/4 of RAM)
//   SOFTCUDA_THREADS   worker threads, which are the multiprocessors (as many as cores)
//   SOFTCUDA_ARCH      compute capability: 75, 80, 86, 87, 89, 90 (86)
#include "device/system.h"

#include "device/checked_memory.h"
#include "device/error.h"
#include "device/machine.h"
#include "profile/modes.h"
#include "profile/record.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <stdexcept>

namespace softcuda::device {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr std::uint64_t kArenaBytes = std::uint64_t{1} << 36; // TSan has few addresses to spare
#else
constexpr std::uint64_t kArenaBytes = std::uint64_t{1} << 40;
#endif

constexpr std::array kArchitectures = {75, 80, 86, 87, 89, 90};

std::atomic<System *> running{nullptr};
std::atomic<bool> forked{false};

int chosen_architecture() {
    const auto wanted = static_cast<int>(environment_number("SOFTCUDA_ARCH", 86));
    const bool known =
        std::find(kArchitectures.begin(), kArchitectures.end(), wanted) != kArchitectures.end();
    return known ? wanted : 86;
}

/// Throws Error where SOFTCUDA_PROFILE has a word that is no mode.
void begin_profile() {
    try {
        if (profile::modes() != 0)
            profile::report_at_exit();
    } catch (const std::invalid_argument &wrong) { // must not mean that nothing is recorded
        std::fprintf(stderr, "softcuda: SOFTCUDA_PROFILE: %s\n", wrong.what());
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
}

unsigned worker_threads() {
    const std::uint64_t wanted = environment_number("SOFTCUDA_THREADS", machine().cores);
    return static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, 1024));
}

} // namespace

System::System() : memory_(kArenaBytes), pool_(worker_threads()) {
    checked_memory::begin();
    begin_profile();
    const std::uint64_t count =
        std::clamp<std::uint64_t>(environment_number("SOFTCUDA_DEVICES", 1), 1, 64);
    // Under `ulimit -v` the arena is less than the memory.
    const std::uint64_t share =
        std::min(machine().memory_bytes / 4 * 3, memory_.arena_size()) / count;
    const std::uint64_t bytes = environment_number("SOFTCUDA_MEMORY", share);
    for (std::uint64_t ordinal = 0; ordinal < count; ordinal++)
        devices_.push_back(std::make_unique<Device>(static_cast<int>(ordinal), bytes,
                                                    chosen_architecture(), pool_.seats()));
}

System &System::start() {
    static std::mutex mutex;
    require(!forked, CUDA_ERROR_NOT_INITIALIZED);
    std::lock_guard lock(mutex);
    if (!running) {
        running = new System;
        pthread_atfork(nullptr, nullptr, [] { forked = true; });
    }
    return *running;
}

System &System::get() {
    System *system = running.load(std::memory_order_acquire);
    require(system != nullptr && !forked.load(std::memory_order_relaxed),
            CUDA_ERROR_NOT_INITIALIZED);
    return *system;
}

Device &System::device(int ordinal) const {
    require(ordinal >= 0 && ordinal < device_count(), CUDA_ERROR_INVALID_DEVICE);
    return *devices_[static_cast<std::size_t>(ordinal)];
}

} // namespace softcuda::device
