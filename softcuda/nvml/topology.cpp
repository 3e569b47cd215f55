// topology.cpp -- the processors near a device, and the distances between devices.
//
// A device uses all processors of the process. So all devices are equally near to each processor
// and to each other.
#include "call.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sched.h>
#include <string>
#include <vector>

namespace softnvml {
namespace {

constexpr unsigned kScopeNode = 0, kScopeSocket = 1;
constexpr std::size_t kWordBits = 8 * sizeof(unsigned long);

/// The processors that this process may use, as numbers.
std::vector<unsigned> usable_processors() {
    constexpr int kMost = 1 << 16;
    const std::unique_ptr<cpu_set_t, decltype(&free)> set(CPU_ALLOC(kMost), free);
    const std::size_t bytes = CPU_ALLOC_SIZE(kMost);
    require(set != nullptr, NVML_ERROR_MEMORY);
    require(sched_getaffinity(0, bytes, set.get()) == 0, NVML_ERROR_OPERATING_SYSTEM);
    std::vector<unsigned> result;
    for (int processor = 0; processor < kMost; processor++)
        if (CPU_ISSET_S(processor, bytes, set.get()))
            result.push_back(static_cast<unsigned>(processor));
    return result;
}

/// The memory nodes, from a list such as "0-1,4".
std::vector<unsigned> memory_nodes() {
    std::ifstream file("/sys/devices/system/node/online");
    std::vector<unsigned> result;
    for (unsigned first = 0; file >> first;) {
        unsigned last = first;
        if (file.peek() == '-' && !(file.get() && file >> last))
            break;
        for (unsigned node = first; node <= last; node++)
            result.push_back(node);
        if (file.get() != ',')
            break;
    }
    if (result.empty())
        result.push_back(0); // a system without a list has one node
    return result;
}

/// Sets the bits `numbers` in a caller's words.
void give_set(const std::vector<unsigned> &numbers, unsigned words, unsigned long *set) {
    require_non_null(set);
    require(words > 0);
    std::fill_n(set, words, 0UL);
    for (const unsigned number : numbers) {
        require(number / kWordBits < words, NVML_ERROR_INSUFFICIENT_SIZE);
        set[number / kWordBits] |= 1UL << number % kWordBits;
    }
}

/// Returns all devices except one. `count` is the capacity of the array, or 0 to query the number
/// of devices.
void give_devices(int but, unsigned *count, nvmlDevice_t *devices) {
    require_non_null(count);
    std::vector<nvmlDevice_t> found;
    for (int ordinal = 0, all = device_count(); ordinal < all; ordinal++)
        if (ordinal != but)
            found.push_back(handle_of(ordinal));
    const unsigned room = *count;
    *count = static_cast<unsigned>(found.size());
    if (room == 0)
        return;
    require_non_null(devices);
    require(room >= found.size(), NVML_ERROR_INSUFFICIENT_SIZE);
    std::ranges::copy(found, devices);
}

constexpr int kNoDevice = -1;

} // namespace
} // namespace softnvml

using namespace softnvml;

NVML_EXPORT nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned words,
                                                unsigned long *set, unsigned scope) {
    return with_device(device, [&](const ScuDevice &) {
        require(scope == kScopeNode || scope == kScopeSocket);
        give_set(usable_processors(), words, set);
    });
}

NVML_EXPORT nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned words, unsigned long *set) {
    return nvmlDeviceGetCpuAffinityWithinScope(device, words, set, kScopeNode);
}

NVML_EXPORT nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned words, unsigned long *set,
                                        unsigned scope) {
    return with_device(device, [&](const ScuDevice &) {
        require(scope == kScopeNode || scope == kScopeSocket);
        give_set(memory_nodes(), words, set);
    });
}

NVML_EXPORT nvmlSystemGetTopologyGpuSet(unsigned processor, unsigned *count,
                                        nvmlDevice_t *devices) {
    return initialized([&] {
        require(std::ranges::count(usable_processors(), processor) > 0);
        give_devices(kNoDevice, count, devices);
    });
}

NVML_EXPORT nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first, nvmlDevice_t second,
                                                int *level) {
    return initialized([&] {
        require_non_null(level);
        *level =
            ordinal_of(first) == ordinal_of(second) ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_NODE;
    });
}

NVML_EXPORT nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, int level, unsigned *count,
                                             nvmlDevice_t *devices) {
    return initialized([&] {
        const int ordinal = ordinal_of(device);
        require_non_null(count);
        if (level == NVML_TOPOLOGY_NODE)
            give_devices(ordinal, count, devices);
        else
            *count = 0;
    });
}

NVML_EXPORT nvmlDeviceGetP2PStatus(nvmlDevice_t first, nvmlDevice_t second, int index,
                                   int *status) {
    return initialized([&] {
        require_non_null(status);
        require(ordinal_of(first) != ordinal_of(second));
        require(index >= NVML_P2P_CAPS_INDEX_READ && index <= NVML_P2P_CAPS_INDEX_PCI);
        const bool over_a_bus =
            index == NVML_P2P_CAPS_INDEX_NVLINK || index == NVML_P2P_CAPS_INDEX_PCI;
        *status = over_a_bus ? NVML_P2P_STATUS_NOT_SUPPORTED : NVML_P2P_STATUS_OK;
    });
}

NVML_EXPORT nvmlDeviceOnSameBoard(nvmlDevice_t first, nvmlDevice_t second, int *same) {
    return initialized([&] {
        require_non_null(same);
        *same = ordinal_of(first) == ordinal_of(second);
    });
}
