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

/// The launch that a client requests.
struct LaunchRequest {
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    void **parameters = nullptr; ///< a pointer to each argument, or null
    bool cooperative = false;    ///< all blocks are resident together and may wait for each other
    std::array<std::uint32_t, 3> cluster{}; ///< blocks of a cluster; 0 each: as the kernel says
    void **extra = nullptr; ///< CU_LAUNCH_PARAM_...: the arguments in one block, or null
};

/// Throws Error where a launch would be refused for its shape. Parameters are not looked at.
void check_launch(const Function &function, const LaunchRequest &request);

/// Packs the arguments of a request as the function wants them. Throws Error(invalid value).
void copy_arguments(const Function &function, const LaunchRequest &request,
                    std::span<std::byte> to);

/// What the launch of a grid hands on to those of its children: an interrupt that came after it
/// drops them, too.
struct LaunchTicket {
    std::uint64_t interrupts_seen = 0;
};

/// A launch by device code, which was checked. The thread that calls it does not run the grid.
void launch_child(Stream &stream, Function &function, std::shared_ptr<const void> keep,
                  const LaunchRequest &request, std::span<const std::byte> parameters,
                  const LaunchTicket &ticket);

/// Checks a launch as CUDA does, copies its arguments and puts it into the stream. A tiny one is
/// done when this returns. `keep` keeps the function's module alive. Throws Error.
void launch(Stream &stream, Function &function, std::shared_ptr<const void> keep,
            const LaunchRequest &request);

} // namespace softcuda::device
