// machine.h -- properties of the host machine, which determine the devices' attributes.
#pragma once

#include <cstdint>
#include <string>

namespace softcuda::device {

struct Machine {
    std::string processor;              ///< the name in /proc/cpuinfo
    unsigned cores = 1;                 ///< the number that this process may use
    std::uint64_t memory_bytes = 0;     ///< physical memory, or the control group's limit
    std::uint64_t last_cache_bytes = 0; ///< size of the last-level cache
    unsigned kilohertz = 0;             ///< of the processor
};

/// Read once; later calls return the same object.
const Machine &machine();

} // namespace softcuda::device
