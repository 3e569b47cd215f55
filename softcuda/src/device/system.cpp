// system.cpp -- creates the devices that the environment specifies.
//
//   SOFTCUDA_DEVICES   how many devices (1)
//   SOFTCUDA_MEMORY    bytes of each device's memory, K, M, G, T allowed (its share of 3/4 of RAM)
//   SOFTCUDA_SLACK     bytes behind each allocation that kernels may access (0)
//   SOFTCUDA_THREADS   worker threads, which are the multiprocessors (as many as cores)
//   SOFTCUDA_ARCH      compute capability: 75, 80, 86, 87, 89, 90 (86)
//   SOFTCUDA_SCHEDULE  the seed of an unusual order of the streams' commands; see schedule.h (none)
#include "device/system.h"

#include "device/arena.h"
#include "device/checked_memory.h"
#include "device/error.h"
#include "device/machine.h"
#include "device/process_state.h"
#include "profile/modes.h"
#include "profile/record.h"

#include <abi/environment_number.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <stdexcept>
#include <string>

namespace softcuda::device {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr std::uint64_t kArenaBytes = std::uint64_t{1}
                                      << 36; // ThreadSanitizer leaves few addresses
#else
constexpr std::uint64_t kArenaBytes = std::uint64_t{1} << 40;
#endif

constexpr std::uint64_t kMostSlack = std::uint64_t{1} << 30;

constexpr std::array kArchitectures = {75, 80, 86, 87, 89, 90};

std::atomic<System *> running{nullptr};
std::atomic<bool> forked{false};

/// A setting with a minimum and a maximum; the default is between them.
std::uint64_t number_between(const char *name, std::uint64_t otherwise, std::uint64_t least,
                             std::uint64_t most) {
    const std::uint64_t number = abi::environment_number(name, otherwise);
    if (number < least || number > most)
        throw std::invalid_argument(std::string(name) + " is " + std::to_string(number) +
                                    ", not between " + std::to_string(least) + " and " +
                                    std::to_string(most));
    return number;
}

int chosen_architecture() {
    const std::uint64_t wanted = abi::environment_number("SOFTCUDA_ARCH", 86);
    std::string known;
    for (int architecture : kArchitectures) {
        if (wanted == static_cast<std::uint64_t>(architecture))
            return architecture;
        known += (known.empty() ? "" : ", ") + std::to_string(architecture);
    }
    throw std::invalid_argument("SOFTCUDA_ARCH is " + std::to_string(wanted) + ", not one of " +
                                known);
}

/// Any number is a seed, also 0; an empty setting is none.
std::optional<std::uint64_t> chosen_schedule() {
    const char *const text = std::getenv("SOFTCUDA_SCHEDULE");
    if (!text || !*text)
        return std::nullopt;
    return abi::environment_number("SOFTCUDA_SCHEDULE", 0);
}

/// Throws Error if SOFTCUDA_PROFILE contains a word that is not a mode.
void begin_profile() {
    try {
        if (profile::modes() != 0)
            profile::report_at_exit();
    } catch (
        const std::invalid_argument &wrong) { // a wrong setting must not disable recording silently
        std::fprintf(stderr, "softcuda: SOFTCUDA_PROFILE: %s\n", wrong.what());
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
}

} // namespace

struct System::Settings {
    unsigned threads = 0;
    std::uint64_t devices = 0;
    std::uint64_t memory = 0; ///< of each device; 0: an equal share of the machine's memory
    std::uint64_t slack = 0;
    int architecture = 0;
    std::optional<std::uint64_t> schedule; ///< the seed
};

System::Settings System::settings() {
    try {
        const std::uint64_t cores = std::clamp<std::uint64_t>(machine().cores, 1, 1024);
        return {.threads =
                    static_cast<unsigned>(number_between("SOFTCUDA_THREADS", cores, 1, 1024)),
                .devices = number_between("SOFTCUDA_DEVICES", 1, 1, 64),
                .memory = abi::environment_number("SOFTCUDA_MEMORY", 0),
                .slack = number_between("SOFTCUDA_SLACK", 0, 0, kMostSlack),
                .architecture = chosen_architecture(),
                .schedule = chosen_schedule()};
    } catch (const std::invalid_argument &wrong) {
        std::fprintf(stderr, "softcuda: %s\n", wrong.what());
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
}

// With `ulimit -v`, the arena may be smaller than the memory.
std::uint64_t System::memory_of_each(const Settings &settings, std::uint64_t most) {
    const std::uint64_t share = std::min(machine().memory_bytes / 4 * 3, most) / settings.devices;
    return settings.memory != 0 ? settings.memory : share;
}

System::System(const Settings &settings)
    : memory_(kArenaBytes, settings.slack),
      schedule_(settings.schedule ? std::make_unique<Schedule>(*settings.schedule) : nullptr),
      timeline_(schedule_.get()), pool_(settings.threads) {
    checked_memory::begin();
    begin_profile();
    const std::uint64_t bytes = memory_of_each(settings, memory_.arena_size());
    for (std::uint64_t ordinal = 0; ordinal < settings.devices; ordinal++)
        devices_.push_back(std::make_unique<Device>(static_cast<int>(ordinal), bytes,
                                                    settings.architecture, pool_.slots()));
}

System &System::start() {
    static std::mutex mutex;
    require(!forked, CUDA_ERROR_NOT_INITIALIZED);
    std::lock_guard lock(mutex);
    if (!running) {
        const Settings wanted = settings();
        ProcessState::publish();
        running = new System(wanted);
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

namespace {

ScuDevice describe_by_ordinal(int ordinal, int count) {
    require(ordinal >= 0 && ordinal < count, CUDA_ERROR_INVALID_DEVICE);
    ScuDevice result{};
    result.count = count;
    result.uuid = device_uuid(ordinal);
    device_name().copy(result.name, sizeof result.name - 1);
    device_pci_bus_id(ordinal).copy(result.pci_bus_id, sizeof result.pci_bus_id - 1);
    return result;
}

} // namespace

ScuDevice System::describe_planned(int ordinal) {
    const Settings planned = settings();
    ScuDevice result = describe_by_ordinal(ordinal, static_cast<int>(planned.devices));
    result.architecture = planned.architecture;
    result.multiprocessors = planned.threads;
    result.memory_bytes = memory_of_each(planned, Arena(kArenaBytes).size());
    return result;
}

ScuDevice System::describe_running(int ordinal) {
    ScuDevice result = describe_by_ordinal(ordinal, device_count());
    Device &device = *devices_[static_cast<std::size_t>(ordinal)];
    result.architecture = device.architecture();
    result.multiprocessors = device.multiprocessors();
    result.memory_bytes = device.total_memory();
    result.used_bytes = device.total_memory() - device.free_memory();
    result.in_use = result.used_bytes > 0 || device.primary_active();
    result.busy_nanoseconds = pool_.total(device.busy_time());
    return result;
}

ScuDevice System::describe(int ordinal) {
    System *system = running.load(std::memory_order_acquire);
    return system && !forked ? system->describe_running(ordinal) : describe_planned(ordinal);
}

Device &System::device(int ordinal) const {
    require(ordinal >= 0 && ordinal < device_count(), CUDA_ERROR_INVALID_DEVICE);
    return *devices_[static_cast<std::size_t>(ordinal)];
}

} // namespace softcuda::device
