// graph.cpp -- creates, instantiates, launches and queries graphs. The functions that differ
// between CUDA 12 and 13 are in cuda_12.cpp and cuda_13.cpp.
#include "call.h"
#include "default_stream.h"
#include "node_params.h"
#include "older_api.h"

using namespace softcudart;

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags) {
    return forward<cuGraphCreate>(graph, flags);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return forward<cuGraphDestroy>(graph); }

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t original) {
    return forward<cuGraphClone>(clone, original);
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
    return forward<cuGraphNodeFindInClone>(node, original, clone);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
    return forward<cuGraphNodeGetType>(node, as<CUgraphNodeType *>(type));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, std::size_t *count) {
    return forward<cuGraphGetNodes>(graph, nodes, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, std::size_t *count) {
    return forward<cuGraphGetRootNodes>(graph, nodes, count);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { return forward<cuGraphDestroyNode>(node); }

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long flags) {
    return forward<cuGraphInstantiateWithFlags>(executable, graph, flags);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph,
                                          unsigned long long flags) {
    return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *params) {
    return with_context([&] {
        require_non_null(params);
        CUDA_GRAPH_INSTANTIATE_PARAMS same{};
        same.flags = params->flags;
        same.hUploadStream = stream_of(params->uploadStream);
        const CUresult result = cuGraphInstantiateWithParams(executable, graph, &same);
        params->errNode_out = same.hErrNode_out;
        params->result_out = static_cast<cudaGraphInstantiateResult>(same.result_out);
        check(result);
    });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long *flags) {
    static_assert(sizeof *flags == sizeof(cuuint64_t));
    return forward<cuGraphExecGetFlags>(executable, reinterpret_cast<cuuint64_t *>(flags));
}

// The structs of the two APIs differ only in the names of members.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info) {
    static_assert(sizeof *info == sizeof(CUgraphExecUpdateResultInfo));
    return forward<cuGraphExecUpdate>(executable, graph, as<CUgraphExecUpdateResultInfo *>(info));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
    return forward<cuGraphUpload>(executable, stream_of(stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    return forward<cuGraphLaunch>(executable, stream_of(stream));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    return forward<cuGraphExecDestroy>(executable);
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags) {
    return forward<cuGraphDebugDotPrint>(graph, path, flags);
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *pointer, cudaHostFn_t destroy,
                                 unsigned int count, unsigned int flags) {
    return forward<cuUserObjectCreate>(object, pointer, destroy, count, flags);
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
    return forward<cuUserObjectRetain>(object, count);
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
    return forward<cuUserObjectRelease>(object, count);
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                      unsigned int count, unsigned int flags) {
    return forward<cuGraphRetainUserObject>(graph, object, count, flags);
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                       unsigned int count) {
    return forward<cuGraphReleaseUserObject>(graph, object, count);
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                             unsigned int value, unsigned int flags) {
    return with_context([&] {
        CUgraphConditionalHandle made = 0;
        require_non_null(handle);
        check(cuGraphConditionalHandleCreate(&made, graph, current_context(), value, flags));
        *handle = made;
    });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned int enabled) {
    return forward<cuGraphNodeSetEnabled>(executable, node, enabled);
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned int *enabled) {
    return forward<cuGraphNodeGetEnabled>(executable, node, enabled);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *params) {
    return with_context([&] {
        require_non_null(params);
        CUgraphNodeParams same = to_driver(*params);
        check(cuGraphNodeSetParams(node, &same));
    });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams *params) {
    return with_context([&] {
        require_non_null(params);
        CUgraphNodeParams same = to_driver(*params);
        check(cuGraphExecNodeSetParams(executable, node, &same));
    });
}
