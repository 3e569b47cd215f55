// device_graph_calls.cpp -- checks the calls of kernels on graphs as CUDA does.
#include "device/graphs/device_graph_calls.h"

#include "device/context.h"
#include "device/graphs/device_graph.h"
#include "device/graphs/graph.h"
#include "device/graphs/updatable_node.h"
#include "device/registry.h"
#include "rt/guard.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace softcuda::device {
namespace {

// cudaStreamGraph...
constexpr std::uint64_t kTailLaunch = 0x0100000000000000, kFireAndForget = 0x0200000000000000,
                        kSibling = 0x0300000000000000;

/// The struct of the CUDA runtime.
struct NodeUpdate {
    enum class Field : std::uint32_t { Grid = 1, Parameter = 2, Enabled = 3 };

    std::uint64_t node;
    Field field;
    std::uint32_t padding;
    std::array<std::uint64_t, 3> data; ///< parameter: address of the value, offset, bytes
};
static_assert(sizeof(NodeUpdate) == 40);

DeviceError result_of(bool accepted) {
    return accepted ? DeviceError::Success : DeviceError::InvalidValue;
}

void read(void *to, std::uint64_t from, std::size_t bytes) {
    if (!rt::guarded_copy(to, from, bytes))
        throw UnreadableMemory{from};
}

DeviceError apply(const NodeUpdate &update) {
    switch (update.field) {
    case NodeUpdate::Field::Grid: {
        std::array<std::uint32_t, 3> grid{};
        std::memcpy(grid.data(), update.data.data(), sizeof grid);
        return change_node_grid(update.node, grid);
    }
    case NodeUpdate::Field::Parameter:
        return change_node_parameter(update.node, update.data[1], update.data[0], update.data[2]);
    case NodeUpdate::Field::Enabled:
        return change_node_enabled(update.node, static_cast<std::uint32_t>(update.data[0]) != 0);
    }
    return DeviceError::InvalidValue;
}

} // namespace

GraphLaunch launch_graph(const std::shared_ptr<GraphEnvironment> &environment, Context &context,
                         std::uint64_t graph, std::uint64_t stream) {
    if (!environment)
        return {DeviceError::NotSupported, {}};
    const std::shared_ptr<GraphExec> exec =
        registry<GraphExec>().find(reinterpret_cast<const void *>(graph));
    if (!exec || !exec->device_launchable() || !exec->uploaded())
        return {DeviceError::InvalidValue, {}};
    if (stream == kTailLaunch)
        return {result_of(environment->add_tail(exec)), {}};
    if (stream != kFireAndForget && stream != kSibling)
        return {DeviceError::InvalidValue, {}};
    const std::shared_ptr<GraphEnvironment> &parent =
        stream == kSibling ? environment->parent() : environment;
    const std::shared_ptr<GraphUse> use = parent->admit(exec);
    if (!use)
        return {DeviceError::InvalidValue, {}};
    return {DeviceError::Success, [parent, use, &context] { parent->start(context, use); }};
}

DeviceError change_node_parameter(std::uint64_t node, std::uint64_t offset, std::uint64_t value,
                                  std::uint64_t bytes) {
    const std::shared_ptr<UpdatableNode> found = UpdatableNode::find(node);
    if (!found || bytes > found->parameter_bytes())
        return DeviceError::InvalidValue;
    std::vector<std::byte> content(bytes);
    if (bytes > 0)
        read(content.data(), value, bytes);
    return result_of(found->change_parameter(offset, content));
}

DeviceError change_node_enabled(std::uint64_t node, bool enabled) {
    const std::shared_ptr<UpdatableNode> found = UpdatableNode::find(node);
    return result_of(found && found->change_enabled(enabled));
}

DeviceError change_node_grid(std::uint64_t node, const std::array<std::uint32_t, 3> &grid) {
    const std::shared_ptr<UpdatableNode> found = UpdatableNode::find(node);
    return result_of(found && found->change_grid(grid));
}

DeviceError change_nodes(std::uint64_t updates, std::uint64_t count) {
    if (updates == 0 || count == 0)
        return DeviceError::InvalidValue;
    for (std::uint64_t i = 0; i < count; i++) {
        NodeUpdate update{};
        read(&update, updates + i * sizeof update, sizeof update);
        if (const DeviceError error = apply(update); error != DeviceError::Success)
            return error;
    }
    return DeviceError::Success;
}

} // namespace softcuda::device
