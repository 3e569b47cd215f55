// device_graph_calls.h -- the calls of device code that launch graphs and change their nodes.
#pragma once

#include "device/device_errors.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

namespace softcuda::device {

class GraphEnvironment;

/// Thrown if a call names memory that its thread cannot read.
struct UnreadableMemory {
    std::uint64_t address = 0;
};

/// cudaGraphLaunch(), by a kernel of `environment`; null: of no graph. `start` is called when the
/// kernel's grid has ended; it is empty for tail launches and after an error.
struct GraphLaunch {
    DeviceError error = DeviceError::Success;
    std::function<void()> start;
};
[[nodiscard]] GraphLaunch launch_graph(const std::shared_ptr<GraphEnvironment> &environment,
                                       Context &context, std::uint64_t graph, std::uint64_t stream);

/// cudaGraphKernelNodeSet...(); `value`: an address. They may throw UnreadableMemory.
[[nodiscard]] DeviceError change_node_parameter(std::uint64_t node, std::uint64_t offset,
                                                std::uint64_t value, std::uint64_t bytes);
[[nodiscard]] DeviceError change_node_enabled(std::uint64_t node, bool enabled);
[[nodiscard]] DeviceError change_node_grid(std::uint64_t node,
                                           const std::array<std::uint32_t, 3> &grid);
/// cudaGraphKernelNodeUpdatesApply(), for the array at `updates`.
[[nodiscard]] DeviceError change_nodes(std::uint64_t updates, std::uint64_t count);

} // namespace softcuda::device
