// graph_node.cpp -- the nodes of graphs: adds a node of each type, and gets and sets its
// parameters.
#include "api/graph.h"
#include "api/handles.h"
#include "api/transfer.h"
#include "device/memory_pool.h"

#include <algorithm>

using namespace softcuda;
using device::ChildWork;
using device::Context;
using device::CopyWork;
using device::EventWork;
using device::FillWork;
using device::GraphNode;
using device::GraphWork;
using device::HostWork;
using device::KernelWork;
using device::MemoryOperationsWork;

namespace {

// Conversions of clients' parameters to work. Each throws Error.

/// The common members of all versions of CUDA_KERNEL_NODE_PARAMS.
template <class Parameters> KernelWork kernel_work(const Parameters &params, CUfunction function) {
    const device::LaunchRequest request = {
        .grid = {params.gridDimX, params.gridDimY, params.gridDimZ},
        .block = {params.blockDimX, params.blockDimY, params.blockDimZ},
        .dynamic_shared_bytes = params.sharedMemBytes,
        .parameters = params.kernelParams,
        .extra = params.extra};
    return {api::find_function(function), request};
}

GraphWork work_of(const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    api::require_non_null(params);
    return kernel_work(*params, params->func);
}

/// In the second version, it may name a kernel of a library instead.
template <class Parameters> GraphWork kernel_or_function(const Parameters *params) {
    api::require_non_null(params);
    return kernel_work(*params,
                       params->func ? params->func : reinterpret_cast<CUfunction>(params->kern));
}

GraphWork work_of(const CUDA_KERNEL_NODE_PARAMS_v2 *params) { return kernel_or_function(params); }

GraphWork work_of(const CUDA_MEMCPY3D *params) {
    api::require_non_null(params);
    return CopyWork{*params, api::checked_copy(*params)};
}

template <class Parameters> GraphWork fill_work(const Parameters *params) {
    api::require_non_null(params);
    device::require(params->elementSize == 1 || params->elementSize == 2 ||
                        params->elementSize == 4,
                    CUDA_ERROR_INVALID_VALUE);
    const device::Fill fill = {.address = params->dst,
                               .pitch = params->pitch,
                               .value = params->value,
                               .element_bytes = params->elementSize,
                               .width = params->width,
                               .height = params->height};
    check_fill(device::System::get().memory(), fill);
    return FillWork{fill};
}

GraphWork work_of(const CUDA_MEMSET_NODE_PARAMS *params) { return fill_work(params); }

GraphWork work_of(const CUDA_HOST_NODE_PARAMS *params) {
    api::require_non_null(params);
    device::require(params->fn != nullptr, CUDA_ERROR_INVALID_VALUE);
    return HostWork{params->fn, params->userData};
}

GraphWork event_work(CUevent handle, bool records) {
    const auto event = device::registry<device::Event>().find(handle);
    device::require(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return EventWork{event, records};
}

/// The graph of a new child node, or of one that changes. Only the latter may belong to a node.
std::shared_ptr<device::Graph> find_child(CUgraph graph, bool is_new) {
    const std::shared_ptr<device::Graph> child = api::find_graph(graph);
    device::require(!is_new || !child->belongs_to_node(), CUDA_ERROR_NOT_SUPPORTED);
    child->require_no_updatable_nodes();
    return child;
}

GraphWork child_work(CUgraph graph, bool is_new) {
    return ChildWork{std::make_shared<device::NodeGraph>(find_child(graph, is_new)->clone())};
}

/// The address of the memory is determined at once and returned to the client.
template <class Parameters> GraphWork allocate_work(Parameters *params) {
    api::require_non_null(params);
    const CUmemPoolProps &wanted = params->poolProps;
    device::require(wanted.handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_INVALID_VALUE);
    const auto place = device::PoolPlace::of(wanted.allocType, wanted.location);
    device::AllocateWork work;
    work.memory = device::GraphMemory::make(place, device::current_context::require_usable(),
                                            params->bytesize);
    params->dptr = work.memory->address();
    work.described = {.poolProps = wanted,
                      .accessDescs = nullptr,
                      .accessDescCount = 0,
                      .bytesize = params->bytesize,
                      .dptr = params->dptr};
    return work;
}

GraphWork free_work(CUdeviceptr address) {
    device::FreeWork work{device::GraphMemory::find(address)};
    device::require(work.memory != nullptr, CUDA_ERROR_INVALID_VALUE);
    return work;
}

template <class Parameters> GraphWork operations_work(const Parameters *params) {
    api::require_non_null(params);
    device::require(params->flags == 0 && (params->paramArray || params->count == 0),
                    CUDA_ERROR_INVALID_VALUE);
    MemoryOperationsWork work{{params->paramArray, params->paramArray + params->count}};
    for (const device::MemoryOperation &operation : work.operations)
        device::check_memory_operation(operation);
    return work;
}

/// Creates the body graphs and returns their handles to the client.
GraphWork conditional_work(CUDA_CONDITIONAL_NODE_PARAMS &params) {
    device::ConditionalWork work;
    work.type = params.type;
    work.condition = device::Condition::find(params.handle);
    const unsigned most = params.type == CU_GRAPH_COND_TYPE_WHILE ? 1
                          : params.type == CU_GRAPH_COND_TYPE_IF  ? 2
                                                                  : params.size;
    device::require(work.condition && params.type <= CU_GRAPH_COND_TYPE_SWITCH && params.size > 0 &&
                        params.size <= most,
                    CUDA_ERROR_INVALID_VALUE);
    work.bodies = std::make_shared<device::ConditionalBodies>(params.size);
    params.phGraph_out = work.bodies->handles.data();
    return work;
}

/// A child graph that is cloned, or, for a new node, moved.
GraphWork child_work(const CUDA_CHILD_GRAPH_NODE_PARAMS &params, bool is_new) {
    switch (params.ownership) {
    case CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE:
        return child_work(params.graph, is_new);
    case CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE:
        device::require(is_new, CUDA_ERROR_NOT_SUPPORTED);
        return ChildWork{device::NodeGraph::moved(find_child(params.graph, is_new))};
    default:
        throw device::Error(CUDA_ERROR_INVALID_VALUE);
    }
}

/// The work of a node of any type, which is added or changed.
GraphWork work_of(CUgraphNodeParams &params, bool is_new) {
    switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return kernel_or_function(&params.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return work_of(&params.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return fill_work(&params.memset);
    case CU_GRAPH_NODE_TYPE_HOST: {
        const CUDA_HOST_NODE_PARAMS host = {params.host.fn, params.host.userData};
        return work_of(&host);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return child_work(params.graph, is_new);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return device::EmptyWork{};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return event_work(params.eventWait.event, false);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return event_work(params.eventRecord.event, true);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return allocate_work(&params.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return free_work(params.free.dptr);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return operations_work(&params.memOp);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return conditional_work(params.conditional);
    default: // semaphores
        throw device::Error(CUDA_ERROR_NOT_SUPPORTED);
    }
}

/// Adds a node with the work that make() returns.
template <class Make>
CUresult add(CUgraphNode *result, CUgraph graph, const CUgraphNode *dependencies, std::size_t count,
             Make &&make) {
    return api::with_graphs_in_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = api::handle_of(
            api::find_graph(graph)->add(make(), api::find_nodes(dependencies, count)));
    });
}

/// Calls use(work) with a node's work of one type. Throws Error(invalid value) for another type.
template <class Work, class Use> CUresult with_work(CUgraphNode handle, Use &&use) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        const std::shared_ptr<GraphNode> node = api::find_node(handle);
        auto *work = std::get_if<Work>(&node->work);
        device::require(work != nullptr, CUDA_ERROR_INVALID_VALUE);
        use(*work, *node);
    });
}

template <class Make> CUresult set(CUgraphNode handle, Make &&make) {
    return api::with_graphs_in_context<api::InCapture::Permitted>([&](Context &) {
        const std::shared_ptr<GraphNode> node = api::find_node(handle);
        GraphWork work = make();
        device::require(type_of(work) == type_of(node->work), CUDA_ERROR_INVALID_VALUE);
        if (auto *kernel = std::get_if<KernelWork>(&work))
            kernel->updatable = std::get<KernelWork>(node->work).updatable;
        node->work = std::move(work);
    });
}

template <class Make> CUresult set_in(CUgraphExec exec, CUgraphNode node, Make &&make) {
    return api::with_graphs_in_context<api::InCapture::Permitted>(
        [&](Context &) { api::find_exec(exec)->set_work(*api::find_node(node), make()); });
}

/// The common part of all versions.
template <class Parameters>
void give_kernel(Parameters *params, KernelWork &work, GraphNode &node) {
    api::require_non_null(params);
    node.parameter_pointers = work.pointers();
    *params = {};
    params->func = api::handle_of(*work.function);
    params->gridDimX = work.shape.grid[0];
    params->gridDimY = work.shape.grid[1];
    params->gridDimZ = work.shape.grid[2];
    params->blockDimX = work.shape.block[0];
    params->blockDimY = work.shape.block[1];
    params->blockDimZ = work.shape.block[2];
    params->sharedMemBytes = work.shape.dynamic_shared_bytes;
    params->kernelParams = node.parameter_pointers.data();
}

} // namespace

// Kernels.
#undef cuGraphAddKernelNode
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams

SCU_EXPORT CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode *result, CUgraph graph,
                                                 const CUgraphNode *after, std::size_t count,
                                                 const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    return add(result, graph, after, count, [&] { return work_of(params); });
}

SCU_EXPORT CUresult CUDAAPI cuGraphAddKernelNode_v2(CUgraphNode *result, CUgraph graph,
                                                    const CUgraphNode *after, std::size_t count,
                                                    const CUDA_KERNEL_NODE_PARAMS_v2 *params) {
    return add(result, graph, after, count, [&] { return work_of(params); });
}

SCU_EXPORT CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode node,
                                                       CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    return with_work<KernelWork>(
        node, [&](KernelWork &work, GraphNode &of) { give_kernel(params, work, of); });
}

SCU_EXPORT CUresult CUDAAPI cuGraphKernelNodeGetParams_v2(CUgraphNode node,
                                                          CUDA_KERNEL_NODE_PARAMS_v2 *params) {
    return with_work<KernelWork>(
        node, [&](KernelWork &work, GraphNode &of) { give_kernel(params, work, of); });
}

SCU_EXPORT CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode node,
                                                       const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    return set(node, [&] { return work_of(params); });
}

SCU_EXPORT CUresult CUDAAPI
cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params) {
    return set(node, [&] { return work_of(params); });
}

SCU_EXPORT CUresult CUDAAPI cuGraphExecKernelNodeSetParams(
    CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    return set_in(exec, node, [&] { return work_of(params); });
}

SCU_EXPORT CUresult CUDAAPI cuGraphExecKernelNodeSetParams_v2(
    CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params) {
    return set_in(exec, node, [&] { return work_of(params); });
}

// Copies.
CUresult cuGraphAddMemcpyNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
                              std::size_t count, const CUDA_MEMCPY3D *params, CUcontext) {
    return add(result, graph, after, count, [&] { return work_of(params); });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params) {
    return with_work<CopyWork>(node, [&](CopyWork &work, GraphNode &) {
        api::require_non_null(params);
        *params = work.described;
    });
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *params) {
    return set(node, [&] { return work_of(params); });
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *params, CUcontext) {
    return set_in(exec, node, [&] { return work_of(params); });
}

// Fills.
CUresult cuGraphAddMemsetNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext) {
    return add(result, graph, after, count, [&] { return work_of(params); });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params) {
    return with_work<FillWork>(node, [&](FillWork &work, GraphNode &) {
        api::require_non_null(params);
        const device::Fill &fill = work.fill;
        *params = {fill.address,       fill.pitch, fill.value,
                   fill.element_bytes, fill.width, fill.height};
    });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params) {
    return set(node, [&] { return work_of(params); });
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *params, CUcontext) {
    return set_in(exec, node, [&] { return work_of(params); });
}

// Host functions.
CUresult cuGraphAddHostNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS *params) {
    return add(result, graph, after, count, [&] { return work_of(params); });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params) {
    return with_work<HostWork>(node, [&](HostWork &work, GraphNode &) {
        api::require_non_null(params);
        *params = {work.function, work.argument};
    });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params) {
    return set(node, [&] { return work_of(params); });
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *params) {
    return set_in(exec, node, [&] { return work_of(params); });
}

// Child graphs, and empty nodes.
CUresult cuGraphAddChildGraphNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
                                  std::size_t count, CUgraph child) {
    return add(result, graph, after, count, [&] { return child_work(child, true); });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph) {
    return with_work<ChildWork>(node, [&](ChildWork &work, GraphNode &) {
        api::require_non_null(graph);
        *graph = reinterpret_cast<CUgraph>(&work.child->graph());
    });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
    return set_in(exec, node, [&] { return child_work(child, false); });
}

CUresult cuGraphAddEmptyNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
                             std::size_t count) {
    return add(result, graph, after, count, [] { return device::EmptyWork{}; });
}

// Events.
CUresult cuGraphAddEventRecordNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
                                   std::size_t count, CUevent event) {
    return add(result, graph, after, count, [&] { return event_work(event, true); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
                                 std::size_t count, CUevent event) {
    return add(result, graph, after, count, [&] { return event_work(event, false); });
}

namespace {

CUresult get_event(CUgraphNode node, CUevent *event, bool records) {
    return with_work<EventWork>(node, [&](EventWork &work, GraphNode &) {
        api::require_non_null(event);
        device::require(work.records == records, CUDA_ERROR_INVALID_VALUE);
        *event = reinterpret_cast<CUevent>(work.event.get());
    });
}

} // namespace

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event) {
    return get_event(node, event, true);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event) {
    return get_event(node, event, false);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
    return set(node, [&] { return event_work(event, true); });
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
    return set(node, [&] { return event_work(event, false); });
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
    return set_in(exec, node, [&] { return event_work(event, true); });
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
    return set_in(exec, node, [&] { return event_work(event, false); });
}

// Memory. The parameters of such a node cannot be changed.
CUresult cuGraphAddMemAllocNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
                                std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    return add(result, graph, after, count, [&] { return allocate_work(params); });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    return with_work<device::AllocateWork>(node, [&](device::AllocateWork &work, GraphNode &) {
        api::require_non_null(params);
        *params = work.described;
    });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
                               std::size_t count, CUdeviceptr address) {
    return add(result, graph, after, count, [&] { return free_work(address); });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address) {
    return with_work<device::FreeWork>(node, [&](device::FreeWork &work, GraphNode &) {
        api::require_non_null(address);
        *address = work.memory->address();
    });
}

// Memory operations on words.
CUresult cuGraphAddBatchMemOpNode(CUgraphNode *result, CUgraph graph, const CUgraphNode *after,
                                  std::size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    return add(result, graph, after, count, [&] { return operations_work(params); });
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    return with_work<MemoryOperationsWork>(node, [&](MemoryOperationsWork &work, GraphNode &) {
        api::require_non_null(params);
        *params = {};
        params->ctx = reinterpret_cast<CUcontext>(device::current_context::get());
        params->count = static_cast<unsigned>(work.operations.size());
        params->paramArray = work.operations.data();
    });
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    return set(node, [&] { return operations_work(params); });
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *params) {
    return set_in(exec, node, [&] { return operations_work(params); });
}

// All types.
#undef cuGraphAddNode
SCU_EXPORT CUresult CUDAAPI cuGraphAddNode(CUgraphNode *result, CUgraph graph,
                                           const CUgraphNode *after, std::size_t count,
                                           CUgraphNodeParams *params) {
    return add(result, graph, after, count, [&] {
        api::require_non_null(params);
        GraphWork work = work_of(*params, true);
        if (const auto *conditional = std::get_if<device::ConditionalWork>(&work))
            device::require(
                std::ranges::count(api::find_graph(graph)->conditions, conditional->condition) > 0,
                CUDA_ERROR_INVALID_VALUE);
        return work;
    });
}

SCU_EXPORT CUresult CUDAAPI cuGraphAddNode_v2(CUgraphNode *result, CUgraph graph,
                                              const CUgraphNode *after,
                                              const CUgraphEdgeData *edges, std::size_t count,
                                              CUgraphNodeParams *params) {
    const CUresult plain = api::guarded([&] { api::require_plain_edges(edges, count); });
    return plain == CUDA_SUCCESS ? cuGraphAddNode(result, graph, after, count, params) : plain;
}

#undef cuGraphNodeSetParams
SCU_EXPORT CUresult CUDAAPI cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *params) {
    return set(node, [&] {
        api::require_non_null(params);
        return work_of(*params, false);
    });
}

namespace {

/// Gives a client the parameters of each type of work. The pointers among them belong to the node.
struct NodeDescription {
    CUgraphNodeParams &params;
    GraphNode &node;
    CUcontext context;

    void operator()(const device::EmptyWork &) const {}
    void operator()(KernelWork &work) const { give_kernel(&params.kernel, work, node); }
    void operator()(const CopyWork &work) const { params.memcpy = {0, 0, context, work.described}; }
    void operator()(const FillWork &work) const {
        const device::Fill &fill = work.fill;
        params.memset = {fill.address, fill.pitch,  fill.value, fill.element_bytes,
                         fill.width,   fill.height, context};
    }
    void operator()(const HostWork &work) const {
        params.host.fn = work.function;
        params.host.userData = work.argument;
    }
    void operator()(const ChildWork &work) const {
        params.graph.graph = reinterpret_cast<CUgraph>(&work.child->graph());
        params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
    }
    void operator()(const EventWork &work) const {
        const auto event = reinterpret_cast<CUevent>(work.event.get());
        (work.records ? params.eventRecord.event : params.eventWait.event) = event;
    }
    void operator()(const device::AllocateWork &work) const {
        params.alloc.poolProps = work.described.poolProps;
        params.alloc.bytesize = work.described.bytesize;
        params.alloc.dptr = work.described.dptr;
    }
    void operator()(const device::FreeWork &work) const {
        params.free.dptr = work.memory->address();
    }
    void operator()(MemoryOperationsWork &work) const {
        params.memOp = {context, static_cast<unsigned>(work.operations.size()),
                        work.operations.data(), 0};
    }
    void operator()(const device::ConditionalWork &work) const {
        params.conditional.handle = work.condition->handle();
        params.conditional.type = work.type;
        params.conditional.size = static_cast<unsigned>(work.bodies->handles.size());
        params.conditional.phGraph_out = work.bodies->handles.data();
        params.conditional.ctx = context;
    }
};

} // namespace

// Of CUDA 13.2.
SCU_EXPORT CUresult CUDAAPI cuGraphNodeGetParams(CUgraphNode handle, CUgraphNodeParams *params) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        const std::shared_ptr<GraphNode> node = api::find_node(handle);
        api::require_non_null(params);
        *params = {};
        params->type = type_of(node->work);
        const auto context = reinterpret_cast<CUcontext>(device::current_context::get());
        std::visit(NodeDescription{*params, *node, context}, node->work);
    });
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params) {
    return set_in(exec, node, [&] {
        api::require_non_null(params);
        return work_of(*params, false);
    });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled) {
    return api::with_graphs<api::InCapture::Permitted>(
        [&] { api::find_exec(exec)->set_enabled(*api::find_node(node), enabled != 0); });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *enabled) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        api::require_non_null(enabled);
        *enabled = api::find_exec(exec)->enabled(*api::find_node(node)) ? 1 : 0;
    });
}
