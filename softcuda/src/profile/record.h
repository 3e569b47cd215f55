// record.h -- what was profiled since the program began: kernels with their counters, and events.
#pragma once

#include "profile/launch_counts.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace softcuda::profile {

/// How many blocks of a kernel fit a multiprocessor of the GPU that the device stands for, by each
/// of its limits.
struct Occupancy {
    unsigned by_blocks = 0, by_threads = 0, by_registers = 0, by_shared = 0;
    unsigned threads_per_multiprocessor = 0;
};

/// What was launched. Launches that are equal in all of this are reported as one kernel.
struct LaunchInfo {
    std::string kernel;
    std::array<std::uint32_t, 3> grid{}, block{};
    std::uint32_t registers = 0; ///< softcuda's estimate, of a thread
    std::uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
    std::uint32_t local_bytes_per_thread = 0;
    int device = 0;
    Occupancy occupancy{};
    friend bool operator==(const LaunchInfo &a, const LaunchInfo &b) {
        return a.kernel == b.kernel && a.grid == b.grid && a.block == b.block &&
               a.registers == b.registers && a.static_shared_bytes == b.static_shared_bytes &&
               a.dynamic_shared_bytes == b.dynamic_shared_bytes &&
               a.local_bytes_per_thread == b.local_bytes_per_thread && a.device == b.device;
    }
};

/// How a launch went.
struct LaunchOutcome {
    std::uint64_t nanoseconds = 0; ///< from begin to end; 0: not timed
    bool has_failed = false;
};

/// Adds a launch, and what it counted. `code` keeps the tables mapped that the counters are for.
/// Throws std::bad_alloc.
void add_launch(const LaunchInfo &info, const std::shared_ptr<const void> &code,
                std::vector<TableCounts> &&counts, const LaunchOutcome &outcome);

enum class Activity { Kernel, Copy, Fill, HostFunction, StreamWait, HostWait };

/// Something that took time: in a stream, or in a thread of the host. Monotonic nanoseconds.
struct Event {
    Activity activity{};
    std::string name;
    std::uint64_t stream = 0; ///< its number; 0: none
    int device = 0;
    int thread = 0; ///< of the host, by its number in the system; 0: none
    std::uint64_t begin = 0, end = 0;
    std::uint64_t bytes = 0;
};

/// Keeps an event, unless there are very many already. Does nothing where there is no memory.
void add_event(Event &&event) noexcept;

/// Kernels, lines, accesses and events as JSON text: see docs/finding_slow.md.
[[nodiscard]] std::string to_json();

void forget();

/// Writes to_json() to the file that SOFTCUDA_PROFILE_JSON names, `%p` in it being the process's
/// number, when the process ends. Once; later calls do nothing.
void report_at_exit();

} // namespace softcuda::profile
