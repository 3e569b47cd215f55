// graph.h -- the graphs and nodes behind handles.
#pragma once

#include "api/call.h"
#include "device/graph.h"
#include "device/registry.h"

#include <vector>

namespace softcuda::api {

/// A call that looks into graphs: body() with what all graphs consist of held still.
template <class Body> CUresult with_graphs(Body &&body) noexcept {
    return with_system([&](device::System &) {
        std::lock_guard lock(device::graph_mutex());
        return body();
    });
}

/// The same where a context must be current.
template <class Body> CUresult with_graphs_in_context(Body &&body) noexcept {
    return with_context([&](device::Context &context) {
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

/// The nodes behind `count` handles. They are good while graph_mutex() is held.
inline std::vector<device::GraphNode *> find_nodes(const CUgraphNode *handles, std::size_t count) {
    device::require(count == 0 || handles, CUDA_ERROR_INVALID_VALUE);
    std::vector<device::GraphNode *> nodes;
    for (std::size_t i = 0; i < count; i++)
        nodes.push_back(find_node(handles[i]).get());
    return nodes;
}

/// Dependencies that say more than "after" (ports of programmatic launches) are not supported.
inline void require_plain_edges(const CUgraphEdgeData *edges, std::size_t count) {
    for (std::size_t i = 0; edges && i < count; i++)
        device::require(edges[i].from_port == 0 && edges[i].to_port == 0 && edges[i].type == 0,
                        CUDA_ERROR_NOT_SUPPORTED);
}

/// Gives a client handles as CUDA's functions do: with a null array, how many there are; else as
/// many as fit, the rest of the array null, and how many were given.
void give_nodes(const std::vector<device::GraphNode *> &nodes, CUgraphNode *handles,
                std::size_t *count);

/// Registers a graph and returns its handle.
CUgraph publish(const std::shared_ptr<device::Graph> &graph);

} // namespace softcuda::api
