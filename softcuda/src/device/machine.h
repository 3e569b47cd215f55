// machine.h -- properties of the host machine, from which the devices' attributes follow.
#pragma once

#include <cstdint>
#include <string>

namespace softcuda::device {

struct Machine {
    std::string processor;              ///< as /proc/cpuinfo names it
    unsigned cores = 1;                 ///< that this process may use
    std::uint64_t memory_bytes = 0;     ///< physical, or what the control group allows
    std::uint64_t last_cache_bytes = 0; ///< size of the last-level cache
    unsigned kilohertz = 0;             ///< of the processor
};

/// Read once; later calls return the same object.
const Machine &machine();

/// The value of an environment variable as a number with an optional suffix K, M, G or T (powers of
/// 1024), or `otherwise` where it is unset or empty. Throws std::invalid_argument, whose text names
/// the variable and its value, where it is no such number.
std::uint64_t environment_number(const char *name, std::uint64_t otherwise);

} // namespace softcuda::device
