// use.cpp -- a device's memory and time that processes use.
//
// A software device belongs to a process: each process has all of its memory, and does not see
// other processes. So the used memory is that of this process, and the list of processes has at
// most one entry.
//
// A device is busy while at least one thread runs blocks of a kernel. The driver counts the
// nanoseconds. Each query of the utilisation stores the count. The result is the busy fraction of
// the time since an earlier query, the latest one that is at least a sixth of a second ago:
//
//     nvmlInit   call          call    call       now
//     |          |             |       |          |
//     +----------+-------------+-------+----------+---> time
//                              ^ compared with    | < 1/6 s >
#include "use.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <unistd.h>
#include <vector>

namespace softnvml {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr auto kLeastPeriod = std::chrono::milliseconds(167);
constexpr auto kLeastDistance =
    std::chrono::milliseconds(10); // minimum distance between stored samples

struct Sample {
    Clock::time_point time;
    std::uint64_t busy = 0;
};

std::mutex samples_mutex;
std::map<int, std::deque<Sample>> samples; ///< by ordinal, the oldest first

/// Stores a sample, and removes those that no later query needs.
void keep(std::deque<Sample> &kept, const Sample &sample) {
    if (kept.empty() || sample.time - kept.back().time >= kLeastDistance)
        kept.push_back(sample);
    while (kept.size() > 1 && sample.time - kept[1].time >= kLeastPeriod)
        kept.pop_front();
}

/// In percent.
unsigned utilization(int ordinal, std::uint64_t busy) {
    std::lock_guard lock(samples_mutex);
    std::deque<Sample> &kept = samples[ordinal];
    const Sample now{Clock::now(), busy};
    keep(kept, now);
    const Sample &before = kept.front();
    const auto passed = static_cast<std::uint64_t>(nanoseconds(now.time - before.time).count());
    // In a forked child, the driver's counter starts at zero.
    if (passed == 0 || now.busy < before.busy)
        return 0;
    return static_cast<unsigned>(
        std::min<std::uint64_t>(100, (100 * (now.busy - before.busy) + passed / 2) / passed));
}

constexpr unsigned kNoInstance = 0xffffffff;

void fill(nvmlProcessInfo_v1_t &info, const ScuDevice &device) {
    info = {.pid = static_cast<unsigned>(getpid()), .usedGpuMemory = device.used_bytes};
}

void fill(nvmlProcessInfo_v2_t &info, const ScuDevice &device) {
    info = {.pid = static_cast<unsigned>(getpid()),
            .usedGpuMemory = device.used_bytes,
            .gpuInstanceId = kNoInstance,
            .computeInstanceId = kNoInstance};
}

void fill(nvmlProcessDetail_v1_t &info, const ScuDevice &device) {
    info = {.pid = static_cast<unsigned>(getpid()),
            .usedGpuMemory = device.used_bytes,
            .gpuInstanceId = kNoInstance,
            .computeInstanceId = kNoInstance,
            .usedGpuCcProtectedMemory = 0};
}

/// A list with this process, or an empty list. Sets `count` to its length.
template <class Info> void give_processes(const ScuDevice &device, unsigned &count, Info *infos) {
    const unsigned room = infos ? count : 0;
    count = device.in_use ? 1 : 0;
    require(room >= count, NVML_ERROR_INSUFFICIENT_SIZE);
    if (count > 0)
        fill(*infos, device);
}

template <class Info>
nvmlReturn_t compute_processes(nvmlDevice_t device, unsigned *count, Info *infos) noexcept {
    return with_device(device, [&](const ScuDevice &one) {
        require_non_null(count);
        give_processes(one, *count, infos);
    });
}

/// For kinds of processes that do not exist here.
nvmlReturn_t no_processes(nvmlDevice_t device, unsigned *count) noexcept {
    return give(device, count, 0);
}

/// Microseconds since 1970.
unsigned long long wall_time() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<unsigned long long>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

} // namespace

void begin_samples(int devices) {
    std::lock_guard lock(samples_mutex);
    samples.clear();
    for (int ordinal = 0; ordinal < devices; ordinal++)
        keep(samples[ordinal], {Clock::now(), describe(ordinal).busy_nanoseconds});
}

} // namespace softnvml

using namespace softnvml;

NVML_EXPORT nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    return with_device(device, [&](const ScuDevice &one) {
        require_non_null(memory);
        *memory = {.total = one.memory_bytes,
                   .free = one.memory_bytes - one.used_bytes,
                   .used = one.used_bytes};
    });
}

NVML_EXPORT nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    return with_device(device, [&](const ScuDevice &one) {
        require_version(memory, 2);
        *memory = {.version = memory->version,
                   .total = one.memory_bytes,
                   .reserved = 0,
                   .free = one.memory_bytes - one.used_bytes,
                   .used = one.used_bytes};
    });
}

/// The time of memory accesses is not measured: 0.
NVML_EXPORT nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates) {
    return with_device(device, [&](const ScuDevice &one) {
        require_non_null(rates);
        *rates = {.gpu = utilization(ordinal_of(device), one.busy_nanoseconds), .memory = 0};
    });
}

NVML_EXPORT nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
                                            nvmlProcessUtilizationSample_t *result, unsigned *count,
                                            unsigned long long last_seen) {
    return with_device(device, [&](const ScuDevice &one) {
        require_non_null(count);
        const unsigned long long now = wall_time();
        const unsigned room = result ? *count : 0;
        *count = one.in_use && now > last_seen ? 1 : 0;
        require(*count > 0, NVML_ERROR_NOT_FOUND);
        require(room > 0, NVML_ERROR_INSUFFICIENT_SIZE);
        *result = {};
        result->pid = static_cast<unsigned>(getpid());
        result->timeStamp = now;
        result->smUtil = utilization(ordinal_of(device), one.busy_nanoseconds);
    });
}

NVML_EXPORT nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned *count,
                                                 nvmlProcessInfo_v1_t *infos) {
    return compute_processes(device, count, infos);
}
NVML_EXPORT nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned *count,
                                                    nvmlProcessInfo_v2_t *infos) {
    return compute_processes(device, count, infos);
}
NVML_EXPORT nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count,
                                                    nvmlProcessInfo_t *infos) {
    return compute_processes(device, count, infos);
}

#define NO_PROCESSES(name)                                                                         \
    NVML_EXPORT name(nvmlDevice_t device, unsigned *count, void *) {                               \
        return no_processes(device, count);                                                        \
    }
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)

NVML_EXPORT nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device,
                                                  nvmlProcessDetailList_v1_t *list) {
    return with_device(device, [&](ScuDevice one) {
        require_version(list, 1);
        require(list->mode <= NVML_PROCESS_MODE_ALL);
        if (list->mode == NVML_PROCESS_MODE_GRAPHICS || list->mode == NVML_PROCESS_MODE_MPS)
            one.in_use = 0;
        give_processes(one, list->numProcArrayEntries, list->procArray);
    });
}

/// Each value contains the result "not supported".
NVML_EXPORT nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
    return with_device(device, [&](const ScuDevice &) {
        require_non_null(values);
        require(count > 0);
        for (int i = 0; i < count; i++)
            values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    });
}
