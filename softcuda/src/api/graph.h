// graph.h -- finds the graphs and nodes of handles.
#pragma once

#include "api/call.h"
#include "device/graphs/graph.h"
#include "device/registry.h"

#include <vector>

namespace softcuda::api {

/// A call that reads graphs: body(), with the lock of all graphs.
template <InCapture rule, class Body> CUresult with_graphs(Body &&body) noexcept {
    return with_system<rule>([&](device::System &) {
        device::refuse_in_host_function();
        std::lock_guard lock(device::graph_mutex());
        return body();
    });
}

/// As above, for calls that require a current context.
template <InCapture rule, class Body> CUresult with_graphs_in_context(Body &&body) noexcept {
    return with_context<rule>([&](device::Context &context) {
        std::lock_guard lock(device::graph_mutex());
        return body(context);
    });
}

/// Throw Error(invalid value).
inline std::shared_ptr<device::Graph> find_graph(CUgraph handle) {
    std::shared_ptr<device::Graph> graph = device::registry<device::Graph>().find(handle);
    device::require(graph != nullptr, CUDA_ERROR_INVALID_VALUE);
    return graph;
}

inline std::shared_ptr<device::GraphNode> find_node(CUgraphNode handle) {
    std::shared_ptr<device::GraphNode> node = device::registry<device::GraphNode>().find(handle);
    device::require(node != nullptr, CUDA_ERROR_INVALID_VALUE);
    return node;
}

inline std::shared_ptr<device::GraphExec> find_exec(CUgraphExec handle) {
    std::shared_ptr<device::GraphExec> exec = device::registry<device::GraphExec>().find(handle);
    device::require(exec != nullptr, CUDA_ERROR_INVALID_VALUE);
    return exec;
}

inline CUgraphNode handle_of(device::GraphNode &node) {
    return reinterpret_cast<CUgraphNode>(&node);
}

/// The nodes of `count` handles. They are valid while graph_mutex() is held.
inline std::vector<device::GraphNode *> find_nodes(const CUgraphNode *handles, std::size_t count) {
    device::require(count == 0 || handles, CUDA_ERROR_INVALID_VALUE);
    std::vector<device::GraphNode *> nodes;
    for (std::size_t i = 0; i < count; i++)
        nodes.push_back(find_node(handles[i]).get());
    return nodes;
}

/// Edges with data (ports of programmatic launches) are not supported.
inline void require_plain_edges(const CUgraphEdgeData *edges, std::size_t count) {
    for (std::size_t i = 0; edges && i < count; i++)
        device::require(edges[i].from_port == 0 && edges[i].to_port == 0 && edges[i].type == 0,
                        CUDA_ERROR_NOT_SUPPORTED);
}

/// Returns handles in the way of CUDA's functions: with a null array, their number; else as many
/// handles as fit, null in the rest of the array, and the number of written handles.
void give_nodes(const std::vector<device::GraphNode *> &nodes, CUgraphNode *handles,
                std::size_t *count);

/// Registers a graph and returns its handle.
CUgraph publish(const std::shared_ptr<device::Graph> &graph);

} // namespace softcuda::api
