// launch.h -- kernel launches.
#pragma once

#include "device/command.h"
#include "device/module.h"
#include "device/stream.h"
#include "rt/grid.h"
#include "rt/kernel_services.h"

#include <array>
#include <cstdint>
#include <cuda.h>
#include <memory>
#include <span>

namespace softcuda::device {

class GraphEnvironment;

/// The launch that a client or a graph requests.
struct LaunchRequest {
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    void **parameters = nullptr; ///< a pointer to each argument, or null
    bool cooperative = false;    ///< all blocks are resident together and may wait for each other
    /// It may begin before the launch before it in the stream has ended. Only the check modes ask.
    bool programmatic = false;
    std::array<std::uint32_t, 3> cluster{}; ///< blocks of a cluster; all 0: the kernel's size
    void **extra = nullptr; ///< CU_LAUNCH_PARAM_...: the arguments in one block, or null
    /// If not null, a captured launch becomes a node that kernels change, and its handle is written
    /// here; else such a launch is refused.
    CUgraphDeviceNode *updatable = nullptr;
    GraphEnvironment *environment = nullptr; ///< of the graph in which it is; null: in none
};

[[nodiscard]] inline std::uint64_t product(const std::array<std::uint32_t, 3> &extent) {
    return std::uint64_t{extent[0]} * extent[1] * extent[2];
}

/// Throws Error if a launch would be refused because of its shape. Does not check parameters.
void check_launch(const Function &function, const LaunchRequest &request);

/// Packs the arguments of a request for the function. Throws Error(invalid value).
void copy_arguments(const Function &function, const LaunchRequest &request,
                    std::span<std::byte> to);

/// Data that the launch of a grid passes on to the launches of its children: an interrupt after the
/// parent's launch also drops the children.
struct LaunchTicket {
    std::uint64_t interrupts_seen = 0;
};

/// A checked launch by device code. The calling thread does not run the grid.
void launch_child(Stream &stream, Function &function, std::shared_ptr<const void> keep,
                  const LaunchRequest &request, std::span<const std::byte> parameters,
                  const LaunchTicket &ticket);

/// Checks a launch as CUDA does, copies its arguments and puts it into the stream. A very small
/// launch is done when this returns. `keep` keeps the function's module alive. Throws Error.
void launch(Stream &stream, Function &function, std::shared_ptr<const void> keep,
            const LaunchRequest &request);

} // namespace softcuda::device
