// graph.cpp -- creates, clones, instantiates, updates and launches graphs.
#include "api/graph.h"

#include "api/default_stream.h"
#include "device/graphs/capture.h"
#include "device/graphs/device_graph.h"

using namespace softcuda;
using device::Context;
using device::Graph;
using device::GraphExec;

namespace softcuda::api {

CUgraph publish(const std::shared_ptr<Graph> &graph) {
    device::registry<Graph>().add(graph);
    return reinterpret_cast<CUgraph>(graph.get());
}

} // namespace softcuda::api

namespace {

constexpr unsigned long long kDeviceLaunch = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
constexpr unsigned long long kKnownFlags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                           CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY |
                                           kDeviceLaunch;

void require_valid(unsigned long long flags) {
    device::require((flags & ~kKnownFlags) == 0, CUDA_ERROR_INVALID_VALUE);
    device::require((flags & kDeviceLaunch) == 0 ||
                        (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0,
                    CUDA_ERROR_INVALID_VALUE);
}

/// Why the graph cannot be instantiated with these flags.
device::DeviceGraphRefusal refusal(CUgraph graph, unsigned long long flags) {
    return (flags & kDeviceLaunch) != 0 ? device::check_device_graph(*api::find_graph(graph))
                                        : device::DeviceGraphRefusal{};
}

std::shared_ptr<GraphExec> instantiate(CUgraphExec *result, CUgraph graph,
                                       unsigned long long flags) {
    const std::shared_ptr<Graph> from = api::find_graph(graph);
    from->require_may_instantiate();
    auto exec = std::make_shared<GraphExec>(*from, flags);
    device::registry<GraphExec>().add(exec);
    from->set_exec(exec);
    *result = reinterpret_cast<CUgraphExec>(exec.get());
    return exec;
}

/// On failure, returns the result that makes a client read the update information.
CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResult *result,
                CUgraphNode *node) {
    return api::with_graphs_in_context<api::InCapture::Permitted>([&](Context &) {
        const std::shared_ptr<Graph> changed = api::find_graph(graph);
        device::require(!changed->belongs_to_node(), CUDA_ERROR_INVALID_VALUE);
        changed->require_no_updatable_nodes();
        const GraphExec::Difference difference = api::find_exec(exec)->update(*changed);
        if (result)
            *result = difference.result;
        if (node)
            *node = difference.node ? api::handle_of(*difference.node) : nullptr;
        return difference.result == CU_GRAPH_EXEC_UPDATE_SUCCESS
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    });
}

} // namespace

CUresult cuGraphCreate(CUgraph *result, unsigned int flags) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        api::require_non_null(result);
        device::require(flags == 0, CUDA_ERROR_INVALID_VALUE);
        *result = api::publish(std::make_shared<Graph>());
    });
}

CUresult cuGraphDestroy(CUgraph graph) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        device::require(!api::find_graph(graph)->belongs_to_node(), CUDA_ERROR_INVALID_VALUE);
        device::registry<Graph>().remove(graph);
    });
}

CUresult cuGraphClone(CUgraph *result, CUgraph graph) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        api::require_non_null(result);
        const std::shared_ptr<Graph> original = api::find_graph(graph);
        original->require_no_memory_nodes();
        original->require_no_updatable_nodes();
        *result = api::publish(original->clone());
    });
}

CUresult cuGraphNodeFindInClone(CUgraphNode *result, CUgraphNode original, CUgraph clone) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        api::require_non_null(result);
        const std::uint64_t wanted = api::find_node(original)->id();
        for (const std::shared_ptr<device::GraphNode> &node : api::find_graph(clone)->nodes()) {
            if (node->origin() != wanted)
                continue;
            *result = api::handle_of(*node);
            return;
        }
        throw device::Error(CUDA_ERROR_INVALID_VALUE);
    });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                        CUcontext wanted, unsigned int value, unsigned int flags) {
    return api::with_graphs_in_context<api::InCapture::Permitted>([&](Context &current) {
        api::require_non_null(handle);
        device::require((flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) == 0, CUDA_ERROR_INVALID_VALUE);
        const std::shared_ptr<Graph> owner = api::find_graph(graph);
        const std::shared_ptr<Context> named = device::registry<Context>().find(wanted);
        device::require(named || !wanted, CUDA_ERROR_INVALID_CONTEXT);
        owner->conditions.push_back(device::Condition::make(
            named ? *named : current, value,
            flags == 0 ? device::Condition::Default::Keep : device::Condition::Default::Assign));
        *handle = owner->conditions.back()->handle();
    });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *result, CUgraph graph, unsigned long long flags) {
    return api::with_graphs_in_context<api::InCapture::Refused>([&](Context &) {
        api::require_non_null(result);
        require_valid(flags);
        device::require(refusal(graph, flags).result == CUDA_GRAPH_INSTANTIATE_SUCCESS,
                        CUDA_ERROR_INVALID_VALUE);
        instantiate(result, graph, flags);
    });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *result, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    return api::with_graphs_in_context<api::InCapture::Refused>([&](Context &) {
        api::require_non_null(result, params);
        params->hErrNode_out = nullptr;
        params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
        const cuuint64_t upload = params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
        const cuuint64_t flags = params->flags & ~upload;
        require_valid(flags);
        const device::DeviceGraphRefusal refused = refusal(graph, flags);
        if (refused.result != CUDA_GRAPH_INSTANTIATE_SUCCESS) {
            params->result_out = refused.result;
            params->hErrNode_out = refused.node ? api::handle_of(*refused.node) : nullptr;
            throw device::Error(CUDA_ERROR_INVALID_VALUE);
        }
        const std::shared_ptr<GraphExec> exec = instantiate(result, graph, flags);
        if (upload != 0)
            exec->upload();
        params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    });
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        api::require_non_null(flags);
        *flags = api::find_exec(exec)->flags();
    });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    if (!info)
        return CUDA_ERROR_INVALID_VALUE;
    *info = {};
    return update(exec, graph, &info->result, &info->errorNode);
}

// Only lets kernels use the graph: its own kernels are compiled at their first launch.
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    return api::with_context_of(stream, [&](Context &context) {
        const std::shared_ptr<GraphExec> found = api::find_exec(exec);
        device::capture::forbid(*api::find_stream(context, stream));
        found->upload();
    });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    return api::with_context_of(stream, [&](Context &context) {
        const std::shared_ptr<device::Stream> in = api::find_stream(context, stream);
        device::capture::forbid(*in); // a child node adds a graph to another one
        api::find_exec(exec)->launch(*in);
    });
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    return api::with_graphs<api::InCapture::Refused>([&] {
        device::require(device::registry<GraphExec>().remove(exec) != nullptr,
                        CUDA_ERROR_INVALID_VALUE);
    });
}

// Older versions.
#undef cuGraphInstantiate
#undef cuGraphExecUpdate
SCU_EXPORT CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *result, CUgraph graph,
                                               CUgraphNode *error_node, char *log,
                                               std::size_t log_bytes) {
    if (error_node)
        *error_node = nullptr;
    if (log && log_bytes > 0)
        *log = '\0';
    return cuGraphInstantiateWithFlags(result, graph, 0);
}

SCU_EXPORT CUresult CUDAAPI cuGraphInstantiate_v2(CUgraphExec *result, CUgraph graph,
                                                  CUgraphNode *error_node, char *log,
                                                  std::size_t log_bytes) {
    return cuGraphInstantiate(result, graph, error_node, log, log_bytes);
}

SCU_EXPORT CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node,
                                              CUgraphExecUpdateResult *result) {
    return update(exec, graph, result, node);
}
