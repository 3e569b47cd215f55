// record.h -- the profile since the program began: kernels with their counters, and events.
#pragma once

#include "profile/launch_counts.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace softcuda::profile {

/// The number of blocks of a kernel that fit on a multiprocessor of the simulated GPU, for each of
/// its limits.
struct Occupancy {
    unsigned by_blocks = 0, by_threads = 0, by_registers = 0, by_shared = 0;
    unsigned threads_per_multiprocessor = 0;
};

/// The identity of a launch. Launches with equal identities are reported as one kernel.
struct LaunchInfo {
    std::string kernel;
    std::array<std::uint32_t, 3> grid{}, block{};
    std::uint32_t registers = 0; ///< of a thread, estimated by softcuda
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

/// The result of a launch.
struct LaunchOutcome {
    std::uint64_t nanoseconds = 0; ///< from begin to end; 0: not timed
    bool has_failed = false;
};

/// Adds a launch and its counters. `code` keeps the tables of the counters mapped. Throws
/// std::bad_alloc.
void add_launch(const LaunchInfo &info, const std::shared_ptr<const void> &code,
                std::vector<TableCounts> &&counts, const LaunchOutcome &outcome);

enum class Activity { Kernel, Copy, Fill, HostFunction, StreamWait, HostWait };

/// An event with a duration: in a stream, or in a thread of the host. Times are monotonic
/// nanoseconds.
struct Event {
    Activity activity{};
    std::string name;
    std::uint64_t stream = 0; ///< the number of the stream; 0: none
    int device = 0;
    int thread = 0; ///< of the host, by its number in the system; 0: none
    std::uint64_t begin = 0, end = 0;
    std::uint64_t bytes = 0;
};

/// Adds an event, up to a limit. Does nothing if memory runs out.
void add_event(Event &&event) noexcept;

/// Kernels, lines, accesses and events as JSON text: see docs/finding_slow.md.
[[nodiscard]] std::string to_json();

void forget();

/// Arranges that to_json() is written when the process ends, to the file that SOFTCUDA_PROFILE_JSON
/// names; `%p` in the name is the process id. Later calls do nothing.
void report_at_exit();

} // namespace softcuda::profile
