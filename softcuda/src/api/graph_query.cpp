// graph_query.cpp -- lists the nodes and edges of a graph.
#include "api/graph.h"

#include <algorithm>

using namespace softcuda;
using device::Graph;
using device::GraphNode;

namespace softcuda::api {

void give_nodes(const std::vector<GraphNode *> &nodes, CUgraphNode *handles, std::size_t *count) {
    require_non_null(count);
    if (!handles) {
        *count = nodes.size();
        return;
    }
    for (std::size_t i = 0; i < *count; i++)
        handles[i] = i < nodes.size() ? handle_of(*nodes[i]) : nullptr;
    *count = std::min(*count, nodes.size());
}

} // namespace softcuda::api

namespace {

std::vector<GraphNode *> all_nodes(const Graph &graph) {
    std::vector<GraphNode *> nodes;
    for (const std::shared_ptr<GraphNode> &node : graph.nodes())
        nodes.push_back(node.get());
    return nodes;
}

std::vector<GraphNode *> dependents(const GraphNode &node) {
    std::vector<GraphNode *> found;
    for (const std::shared_ptr<GraphNode> &other : node.graph().nodes())
        if (std::count(other->dependencies.begin(), other->dependencies.end(), &node))
            found.push_back(other.get());
    return found;
}

void clear_edges(CUgraphEdgeData *edges, const std::size_t *count) {
    if (edges && count)
        std::fill_n(edges, *count, CUgraphEdgeData{});
}

/// `from` and `to` have the same length, like CUDA's arrays.
CUresult get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, std::size_t *count) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        std::vector<GraphNode *> sources, targets;
        for (const std::shared_ptr<GraphNode> &node : api::find_graph(graph)->nodes())
            for (GraphNode *dependency : node->dependencies) {
                sources.push_back(dependency);
                targets.push_back(node.get());
            }
        api::require_non_null(count);
        device::require((from == nullptr) == (to == nullptr), CUDA_ERROR_INVALID_VALUE);
        std::size_t same = *count;
        api::give_nodes(sources, from, count);
        api::give_nodes(targets, to, &same);
    });
}

CUresult change_edges(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                      std::size_t count, bool add) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        const std::shared_ptr<Graph> graph = api::find_graph(handle);
        if (!add)
            graph->require_no_memory_nodes();
        const std::vector<GraphNode *> sources = api::find_nodes(from, count);
        const std::vector<GraphNode *> targets = api::find_nodes(to, count);
        for (std::size_t i = 0; i < count; i++) {
            std::vector<GraphNode *> &edges = targets[i]->dependencies;
            const bool known = std::count(edges.begin(), edges.end(), sources[i]) != 0;
            device::require(&sources[i]->graph() == graph.get() &&
                                &targets[i]->graph() == graph.get() && sources[i] != targets[i] &&
                                known != add,
                            CUDA_ERROR_INVALID_VALUE);
            if (add)
                edges.push_back(sources[i]);
            else
                std::erase(edges, sources[i]);
        }
    });
}

} // namespace

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, std::size_t *count) {
    return api::with_graphs<api::InCapture::Permitted>(
        [&] { api::give_nodes(all_nodes(*api::find_graph(graph)), nodes, count); });
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, std::size_t *count) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        std::vector<GraphNode *> roots = all_nodes(*api::find_graph(graph));
        std::erase_if(roots, [](const GraphNode *node) { return !node->dependencies.empty(); });
        api::give_nodes(roots, nodes, count);
    });
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        api::require_non_null(type);
        *type = device::type_of(api::find_node(node)->work);
    });
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        const std::shared_ptr<GraphNode> node = api::find_node(handle);
        node->graph().require_no_memory_nodes();
        const auto *kernel = std::get_if<device::KernelWork>(&node->work);
        device::require(!kernel || !kernel->updatable, CUDA_ERROR_NOT_SUPPORTED);
        node->graph().remove(*node);
    });
}

#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
SCU_EXPORT CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                            std::size_t *count) {
    return get_edges(graph, from, to, count);
}

SCU_EXPORT CUresult CUDAAPI cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                               CUgraphEdgeData *edges, std::size_t *count) {
    clear_edges(edges, count);
    return get_edges(graph, from, to, count);
}

SCU_EXPORT CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes,
                                                       std::size_t *count) {
    return api::with_graphs<api::InCapture::Permitted>(
        [&] { api::give_nodes(api::find_node(node)->dependencies, nodes, count); });
}

SCU_EXPORT CUresult CUDAAPI cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes,
                                                          CUgraphEdgeData *edges,
                                                          std::size_t *count) {
    clear_edges(edges, count);
    return cuGraphNodeGetDependencies(node, nodes, count);
}

SCU_EXPORT CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes,
                                                         std::size_t *count) {
    return api::with_graphs<api::InCapture::Permitted>(
        [&] { api::give_nodes(dependents(*api::find_node(node)), nodes, count); });
}

SCU_EXPORT CUresult CUDAAPI cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
                                                            CUgraphEdgeData *edges,
                                                            std::size_t *count) {
    clear_edges(edges, count);
    return cuGraphNodeGetDependentNodes(node, nodes, count);
}

SCU_EXPORT CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                                   const CUgraphNode *to, std::size_t count) {
    return change_edges(graph, from, to, count, /*add=*/true);
}

SCU_EXPORT CUresult CUDAAPI cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                                      const CUgraphNode *to,
                                                      const CUgraphEdgeData *edges,
                                                      std::size_t count) {
    const CUresult result = api::guarded([&] { api::require_plain_edges(edges, count); });
    return result == CUDA_SUCCESS ? change_edges(graph, from, to, count, /*add=*/true) : result;
}

SCU_EXPORT CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                                      const CUgraphNode *to, std::size_t count) {
    return change_edges(graph, from, to, count, /*add=*/false);
}

SCU_EXPORT CUresult CUDAAPI cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                                         const CUgraphNode *to,
                                                         const CUgraphEdgeData *,
                                                         std::size_t count) {
    return change_edges(graph, from, to, count, /*add=*/false);
}
