// kept.h -- the lists that record.cpp fills and report.cpp prints.
#pragma once

#include "profile/record.h"

#include <mutex>
#include <sys/types.h>
#include <vector>

namespace softcuda::profile {

struct KeptKernel {
    LaunchInfo info;
    std::shared_ptr<const void> code;
    std::uint64_t launches = 0, failures = 0;
    std::uint64_t nanoseconds = 0, shortest = ~std::uint64_t{0}, longest = 0; ///< of launches
    std::vector<TableCounts> counts{};
};

struct Kept {
    std::mutex mutex;
    std::vector<KeptKernel> kernels; ///< in the order of their first launches
    std::vector<Event> events;       ///< in the order in which they ended
    std::uint64_t events_left_out = 0;
    pid_t process = 0; ///< that reports; 0: none yet
};

[[nodiscard]] Kept &kept();

} // namespace softcuda::profile
