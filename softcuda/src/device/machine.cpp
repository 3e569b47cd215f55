// machine.cpp -- reads /proc, /sys and the control group.
#include "device/machine.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace softcuda::device {
namespace {

/// The value of the first line "key : value" of /proc/cpuinfo, or an empty string.
std::string cpuinfo(const std::string &key) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.compare(0, key.size(), key) != 0)
            continue;
        const std::size_t colon = line.find(':');
        const std::size_t value = line.find_first_not_of(" \t", colon + 1);
        if (colon != std::string::npos && value != std::string::npos)
            return line.substr(value);
    }
    return {};
}

/// The number at the begin of a file, or 0 (also for "max" in a control group).
std::uint64_t number_in(const std::string &path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    file >> number;
    return file ? number : 0;
}

unsigned usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return std::max(1, CPU_COUNT(&set));
    return std::max(1u, std::thread::hardware_concurrency());
}

std::uint64_t usable_memory() {
    const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
    std::uint64_t bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    for (const char *path :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
        if (const std::uint64_t limit = number_in(path))
            bytes = std::min(bytes, limit);
    return bytes;
}

std::uint64_t last_level_cache() {
    std::uint64_t bytes = 0;
    for (int index = 0; index < 8; index++) {
        std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                           "/size");
        std::uint64_t kilobytes = 0;
        if (file >> kilobytes)
            bytes = std::max(bytes, kilobytes * 1024);
    }
    return bytes;
}

unsigned processor_kilohertz() {
    const std::uint64_t highest =
        number_in("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    if (highest != 0)
        return static_cast<unsigned>(highest);
    return static_cast<unsigned>(std::strtod(cpuinfo("cpu MHz").c_str(), nullptr) * 1000);
}

Machine read_machine() {
    Machine result;
    result.processor = cpuinfo("model name");
    if (result.processor.empty())
        result.processor = "CPU";
    result.cores = usable_cores();
    result.memory_bytes = usable_memory();
    result.last_cache_bytes = last_level_cache();
    result.kilohertz = processor_kilohertz();
    return result;
}

} // namespace

const Machine &machine() {
    static const Machine result = read_machine();
    return result;
}

} // namespace softcuda::device
