// graph_node.cpp -- adds nodes of each kind to graphs, and changes them.
#include "call.h"
#include "copy_params.h"
#include "node_params.h"
#include "program.h"

namespace softcudart {
namespace {

/// The graph of a new node, and its dependencies.
struct Place {
    cudaGraphNode_t *node;
    cudaGraph_t graph;
    const cudaGraphNode_t *dependencies;
    std::size_t count;
};

void add_copy(const Place &place, const CUDA_MEMCPY3D &copy) {
    check(cuGraphAddMemcpyNode(place.node, place.graph, place.dependencies, place.count, &copy,
                               current_context()));
}

CUDA_MEMCPY3D plain_copy(void *to, const void *from, std::size_t count, cudaMemcpyKind kind) {
    return make_copy(memory_end(to, count), memory_end(from, count), count, 1, 1, kind);
}

CUDA_MEMCPY3D copy_to_symbol(const void *symbol, const void *from, std::size_t count,
                             std::size_t offset, cudaMemcpyKind kind) {
    require(kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyHostToHost,
            cudaErrorInvalidMemcpyDirection);
    return plain_copy(as<void *>(part_of(symbol, offset, count)), from, count, kind);
}

CUDA_MEMCPY3D copy_from_symbol(void *to, const void *symbol, std::size_t count, std::size_t offset,
                               cudaMemcpyKind kind) {
    require(kind != cudaMemcpyHostToDevice && kind != cudaMemcpyHostToHost,
            cudaErrorInvalidMemcpyDirection);
    return plain_copy(to, as<void *>(part_of(symbol, offset, count)), count, kind);
}

void set_copy(cudaGraphNode_t node, const CUDA_MEMCPY3D &copy) {
    check(cuGraphMemcpyNodeSetParams(node, &copy));
}

void set_copy(cudaGraphExec_t executable, cudaGraphNode_t node, const CUDA_MEMCPY3D &copy) {
    check(cuGraphExecMemcpyNodeSetParams(executable, node, &copy, current_context()));
}

} // namespace
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *dependencies, std::size_t count,
                                   const cudaKernelNodeParams *params) {
    return with_context([&] {
        require_non_null(params);
        const CUDA_KERNEL_NODE_PARAMS same = to_driver(*params);
        check(cuGraphAddKernelNode(node, graph, dependencies, count, &same));
    });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *result) {
    return with_context([&] {
        require_non_null(result);
        CUDA_KERNEL_NODE_PARAMS params{};
        check(cuGraphKernelNodeGetParams(node, &params));
        *result = from_driver(params);
    });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *params) {
    return with_context([&] {
        require_non_null(params);
        const CUDA_KERNEL_NODE_PARAMS same = to_driver(*params);
        check(cuGraphKernelNodeSetParams(node, &same));
    });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *params) {
    return with_context([&] {
        require_non_null(params);
        const CUDA_KERNEL_NODE_PARAMS same = to_driver(*params);
        check(cuGraphExecKernelNodeSetParams(executable, node, &same));
    });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
    return forward<cuGraphKernelNodeCopyAttributes>(to, from);
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            cudaKernelNodeAttrValue *value) {
    return forward<cuGraphKernelNodeGetAttribute>(node, static_cast<CUkernelNodeAttrID>(attribute),
                                                  as<CUkernelNodeAttrValue *>(value));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
                                            const cudaKernelNodeAttrValue *value) {
    return forward<cuGraphKernelNodeSetAttribute>(node, static_cast<CUkernelNodeAttrID>(attribute),
                                                  as<const CUkernelNodeAttrValue *>(value));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *dependencies, std::size_t count,
                                   const cudaMemcpy3DParms *params) {
    return with_context([&] {
        require_non_null(params);
        add_copy({node, graph, dependencies, count}, to_driver(*params));
    });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *dependencies, std::size_t count,
                                     void *to, const void *from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
    return with_context(
        [&] { add_copy({node, graph, dependencies, count}, plain_copy(to, from, bytes, kind)); });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, std::size_t count,
                                           const void *symbol, const void *from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
    return with_context([&] {
        add_copy({node, graph, dependencies, count},
                 copy_to_symbol(symbol, from, bytes, offset, kind));
    });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, std::size_t count,
                                             void *to, const void *symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
    return with_context([&] {
        add_copy({node, graph, dependencies, count},
                 copy_from_symbol(to, symbol, bytes, offset, kind));
    });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *result) {
    return with_context([&] {
        require_non_null(result);
        CUDA_MEMCPY3D copy{};
        check(cuGraphMemcpyNodeGetParams(node, &copy));
        *result = from_driver(copy);
    });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *params) {
    return with_context([&] {
        require_non_null(params);
        set_copy(node, to_driver(*params));
    });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
    return with_context([&] { set_copy(node, plain_copy(to, from, bytes, kind)); });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *from, std::size_t bytes,
                                                 std::size_t offset, cudaMemcpyKind kind) {
    return with_context([&] { set_copy(node, copy_to_symbol(symbol, from, bytes, offset, kind)); });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                   const void *symbol, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind kind) {
    return with_context([&] { set_copy(node, copy_from_symbol(to, symbol, bytes, offset, kind)); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms *params) {
    return with_context([&] {
        require_non_null(params);
        set_copy(executable, node, to_driver(*params));
    });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void *to, const void *from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
    return with_context([&] { set_copy(executable, node, plain_copy(to, from, bytes, kind)); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                     cudaGraphNode_t node, const void *symbol,
                                                     const void *from, std::size_t bytes,
                                                     std::size_t offset, cudaMemcpyKind kind) {
    return with_context(
        [&] { set_copy(executable, node, copy_to_symbol(symbol, from, bytes, offset, kind)); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                       cudaGraphNode_t node, void *to,
                                                       const void *symbol, std::size_t bytes,
                                                       std::size_t offset, cudaMemcpyKind kind) {
    return with_context(
        [&] { set_copy(executable, node, copy_from_symbol(to, symbol, bytes, offset, kind)); });
}

// Structs of fills, host functions and allocations have the same bytes in both APIs.

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *dependencies, std::size_t count,
                                   const cudaMemsetParams *params) {
    static_assert(sizeof *params == sizeof(CUDA_MEMSET_NODE_PARAMS));
    return with_context([&] {
        check(cuGraphAddMemsetNode(node, graph, dependencies, count,
                                   as<const CUDA_MEMSET_NODE_PARAMS *>(params), current_context()));
    });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams *params) {
    return forward<cuGraphMemsetNodeGetParams>(node, as<CUDA_MEMSET_NODE_PARAMS *>(params));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *params) {
    return forward<cuGraphMemsetNodeSetParams>(node, as<const CUDA_MEMSET_NODE_PARAMS *>(params));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams *params) {
    return with_context([&] {
        check(cuGraphExecMemsetNodeSetParams(
            executable, node, as<const CUDA_MEMSET_NODE_PARAMS *>(params), current_context()));
    });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *dependencies, std::size_t count,
                                 const cudaHostNodeParams *params) {
    static_assert(sizeof *params == sizeof(CUDA_HOST_NODE_PARAMS));
    return forward<cuGraphAddHostNode>(node, graph, dependencies, count,
                                       as<const CUDA_HOST_NODE_PARAMS *>(params));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams *params) {
    return forward<cuGraphHostNodeGetParams>(node, as<CUDA_HOST_NODE_PARAMS *>(params));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *params) {
    return forward<cuGraphHostNodeSetParams>(node, as<const CUDA_HOST_NODE_PARAMS *>(params));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams *params) {
    return forward<cuGraphExecHostNodeSetParams>(executable, node,
                                                 as<const CUDA_HOST_NODE_PARAMS *>(params));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *dependencies, std::size_t count,
                                     cudaMemAllocNodeParams *params) {
    static_assert(sizeof *params == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
    return forward<cuGraphAddMemAllocNode>(node, graph, dependencies, count,
                                           as<CUDA_MEM_ALLOC_NODE_PARAMS *>(params));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams *params) {
    return forward<cuGraphMemAllocNodeGetParams>(node, as<CUDA_MEM_ALLOC_NODE_PARAMS *>(params));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *dependencies, std::size_t count,
                                    void *pointer) {
    return forward<cuGraphAddMemFreeNode>(node, graph, dependencies, count, address_of(pointer));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer) {
    return forward<cuGraphMemFreeNodeGetParams>(node, static_cast<CUdeviceptr *>(pointer));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *dependencies, std::size_t count) {
    return forward<cuGraphAddEmptyNode>(node, graph, dependencies, count);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *dependencies, std::size_t count,
                                       cudaGraph_t child) {
    return forward<cuGraphAddChildGraphNode>(node, graph, dependencies, count, child);
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) {
    return forward<cuGraphChildGraphNodeGetGraph>(node, graph);
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
    return forward<cuGraphExecChildGraphNodeSetParams>(executable, node, child);
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *dependencies, std::size_t count,
                                        cudaEvent_t event) {
    return forward<cuGraphAddEventRecordNode>(node, graph, dependencies, count, event);
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return forward<cuGraphEventRecordNodeGetEvent>(node, event);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return forward<cuGraphEventRecordNodeSetEvent>(node, event);
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
    return forward<cuGraphExecEventRecordNodeSetEvent>(executable, node, event);
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                      const cudaGraphNode_t *dependencies, std::size_t count,
                                      cudaEvent_t event) {
    return forward<cuGraphAddEventWaitNode>(node, graph, dependencies, count, event);
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    return forward<cuGraphEventWaitNodeGetEvent>(node, event);
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return forward<cuGraphEventWaitNodeSetEvent>(node, event);
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               cudaEvent_t event) {
    return forward<cuGraphExecEventWaitNodeSetEvent>(executable, node, event);
}
