// cuda_13.cpp -- functions of libcudart.so.13 with other parameters than in CUDA 12.
#include "default_stream.h"
#include "node_params.h"
#include "per_thread.h"
#include "properties.h"
#include "version.h"

namespace softcudart {
// Equal to the driver's version, for programs that compare the two.
const int runtime_version = 13000;
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    return guarded([&] {
        require_non_null(properties);
        fill_properties(*properties, device);
    });
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, std::size_t count, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream) {
    return forward<cuMemPrefetchAsync>(
        address_of(pointer), count,
        CUmemLocation{static_cast<CUmemLocationType>(location.type), {location.id}}, flags,
        stream_of(stream));
}
CUDART_DEFINE_PER_THREAD(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz)

cudaError_t cudaMemAdvise(const void *pointer, std::size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
    return forward<cuMemAdvise>(
        address_of(pointer), count, static_cast<CUmem_advise>(advice),
        CUmemLocation{static_cast<CUmemLocationType>(location.type), {location.id}});
}

cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const std::size_t *sizes,
                                 std::size_t count, cudaMemcpyAttributes *attributes,
                                 std::size_t *indices, std::size_t attribute_count,
                                 cudaStream_t stream) {
    return forward<cuMemcpyBatchAsync>(
        as<CUdeviceptr *>(const_cast<void **>(to)),
        as<CUdeviceptr *>(const_cast<const void **>(from)), const_cast<std::size_t *>(sizes), count,
        as<CUmemcpyAttributes *>(attributes), indices, attribute_count, stream_of(stream));
}
CUDART_DEFINE_PER_THREAD(cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz)

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, std::size_t *count) {
    return forward<cuStreamGetCaptureInfo>(stream_of(stream), as<CUstreamCaptureStatus *>(status),
                                           reinterpret_cast<cuuint64_t *>(id), graph, dependencies,
                                           as<const CUgraphEdgeData **>(edges), count);
}
CUDART_DEFINE_PER_THREAD(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz)

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *edges, std::size_t count,
                                                unsigned int flags) {
    return forward<cuStreamUpdateCaptureDependencies>(
        stream_of(stream), dependencies, as<const CUgraphEdgeData *>(edges), count, flags);
}
CUDART_DEFINE_PER_THREAD(cudaStreamUpdateCaptureDependencies,
                         cudaStreamUpdateCaptureDependencies_ptsz)

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *edges, std::size_t *count) {
    return forward<cuGraphGetEdges>(graph, from, to, as<CUgraphEdgeData *>(edges), count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         cudaGraphEdgeData *edges, std::size_t *count) {
    return forward<cuGraphNodeGetDependencies>(node, nodes, as<CUgraphEdgeData *>(edges), count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           cudaGraphEdgeData *edges, std::size_t *count) {
    return forward<cuGraphNodeGetDependentNodes>(node, nodes, as<CUgraphEdgeData *>(edges), count);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                     std::size_t count) {
    return forward<cuGraphAddDependencies>(graph, from, to, as<const CUgraphEdgeData *>(edges),
                                           count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                        std::size_t count) {
    return forward<cuGraphRemoveDependencies>(graph, from, to, as<const CUgraphEdgeData *>(edges),
                                              count);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
                             std::size_t count, cudaGraphNodeParams *params) {
    return with_context([&] {
        require_non_null(params);
        CUgraphNodeParams same = to_driver(*params);
        check(cuGraphAddNode(node, graph, dependencies, as<const CUgraphEdgeData *>(edges), count,
                             &same));
        take_results(*params, same);
    });
}
