// cuda_12.cpp -- functions of libcudart.so.12 with other parameters than in CUDA 13, or that CUDA
// 13 removed.
//
// NVIDIA's header of CUDA 13 declares some of these names with other parameters. So each function
// here has another name in C++, and the exported name as its symbol.
#include "default_stream.h"
#include "node_params.h"
#include "per_thread.h"
#include "properties.h"
#include "properties_12.h"
#include "version.h"

#include <cstdint>

#define CUDART_12(own, symbol, ...)                                                                \
    extern "C"                                                                                     \
        __attribute__((visibility("default"))) cudaError_t own(__VA_ARGS__) __asm__(symbol);       \
    cudaError_t own(__VA_ARGS__)

namespace softcudart {

const int runtime_version = 12090;

namespace {

/// In CUDA 12, a place is a device's number, or -1 for the host.
CUmemLocation place_of(int device) noexcept {
    if (device == cudaCpuDeviceId)
        return {CU_MEM_LOCATION_TYPE_HOST, {0}};
    return {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
}

CUmemLocation place_of(const cudaMemLocation &location) noexcept {
    return {static_cast<CUmemLocationType>(location.type), {location.id}};
}

template <class Properties> cudaError_t get_properties(Properties *properties, int device) {
    return guarded([&] {
        require_non_null(properties);
        fill_properties(*properties, device);
    });
}

} // namespace
} // namespace softcudart

using namespace softcudart;

CUDART_12(get_properties_11, "cudaGetDeviceProperties", DeviceProperties11 *properties,
          int device) {
    return get_properties(properties, device);
}

CUDART_12(get_properties_12, "cudaGetDeviceProperties_v2", DeviceProperties12 *properties,
          int device) {
    return get_properties(properties, device);
}

// Old names, from the time when a context belonged to a thread.
CUDART_12(thread_exit, "cudaThreadExit") { return cudaDeviceReset(); }
CUDART_12(thread_synchronize, "cudaThreadSynchronize") { return cudaDeviceSynchronize(); }
CUDART_12(thread_set_limit, "cudaThreadSetLimit", cudaLimit limit, std::size_t value) {
    return cudaDeviceSetLimit(limit, value);
}
CUDART_12(thread_get_limit, "cudaThreadGetLimit", std::size_t *value, cudaLimit limit) {
    return cudaDeviceGetLimit(value, limit);
}
CUDART_12(thread_get_cache_config, "cudaThreadGetCacheConfig", cudaFuncCache *config) {
    return cudaDeviceGetCacheConfig(config);
}
CUDART_12(thread_set_cache_config, "cudaThreadSetCacheConfig", cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}

CUDART_12(elapsed_time, "cudaEventElapsedTime_v2", float *milliseconds, cudaEvent_t start,
          cudaEvent_t end) {
    return cudaEventElapsedTime(milliseconds, start, end);
}

CUDART_12(prefetch_11, "cudaMemPrefetchAsync", const void *pointer, std::size_t count, int device,
          cudaStream_t stream) {
    return forward<cuMemPrefetchAsync>(address_of(pointer), count, place_of(device), 0U,
                                       stream_of(stream));
}
CUDART_DEFINE_PER_THREAD(prefetch_11, cudaMemPrefetchAsync_ptsz)

CUDART_12(prefetch_12, "cudaMemPrefetchAsync_v2", const void *pointer, std::size_t count,
          cudaMemLocation location, unsigned int flags, cudaStream_t stream) {
    return forward<cuMemPrefetchAsync>(address_of(pointer), count, place_of(location), flags,
                                       stream_of(stream));
}
CUDART_DEFINE_PER_THREAD(prefetch_12, cudaMemPrefetchAsync_v2_ptsz)

CUDART_12(advise_11, "cudaMemAdvise", const void *pointer, std::size_t count,
          cudaMemoryAdvise advice, int device) {
    return forward<cuMemAdvise>(address_of(pointer), count, static_cast<CUmem_advise>(advice),
                                place_of(device));
}

CUDART_12(advise_12, "cudaMemAdvise_v2", const void *pointer, std::size_t count,
          cudaMemoryAdvise advice, cudaMemLocation location) {
    return forward<cuMemAdvise>(address_of(pointer), count, static_cast<CUmem_advise>(advice),
                                place_of(location));
}

// The failed copy of the batch is not identified, which NVIDIA's manual allows.
CUDART_12(copy_batch, "cudaMemcpyBatchAsync", void **to, void **from, std::size_t *sizes,
          std::size_t count, cudaMemcpyAttributes *attributes, std::size_t *indices,
          std::size_t attribute_count, std::size_t *failed, cudaStream_t stream) {
    return with_context([&] {
        if (failed)
            *failed = SIZE_MAX;
        check(cuMemcpyBatchAsync(as<CUdeviceptr *>(to), as<CUdeviceptr *>(from), sizes, count,
                                 as<CUmemcpyAttributes *>(attributes), indices, attribute_count,
                                 stream_of(stream)));
    });
}
CUDART_DEFINE_PER_THREAD(copy_batch, cudaMemcpyBatchAsync_ptsz)

CUDART_12(capture_info_3, "cudaStreamGetCaptureInfo_v3", cudaStream_t stream,
          cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
          const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
          std::size_t *count) {
    return forward<cuStreamGetCaptureInfo>(stream_of(stream), as<CUstreamCaptureStatus *>(status),
                                           reinterpret_cast<cuuint64_t *>(id), graph, dependencies,
                                           as<const CUgraphEdgeData **>(edges), count);
}
CUDART_DEFINE_PER_THREAD(capture_info_3, cudaStreamGetCaptureInfo_v3_ptsz)

CUDART_12(capture_info_2, "cudaStreamGetCaptureInfo_v2", cudaStream_t stream,
          cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
          const cudaGraphNode_t **dependencies, std::size_t *count) {
    return capture_info_3(stream, status, id, graph, dependencies, nullptr, count);
}
CUDART_DEFINE_PER_THREAD(capture_info_2, cudaStreamGetCaptureInfo_v2_ptsz)

CUDART_12(capture_info_1, "cudaStreamGetCaptureInfo", cudaStream_t stream,
          cudaStreamCaptureStatus *status, unsigned long long *id) {
    return capture_info_3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
CUDART_DEFINE_PER_THREAD(capture_info_1, cudaStreamGetCaptureInfo_ptsz)

CUDART_12(update_dependencies_2, "cudaStreamUpdateCaptureDependencies_v2", cudaStream_t stream,
          cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges, std::size_t count,
          unsigned int flags) {
    return forward<cuStreamUpdateCaptureDependencies>(
        stream_of(stream), dependencies, as<const CUgraphEdgeData *>(edges), count, flags);
}
CUDART_DEFINE_PER_THREAD(update_dependencies_2, cudaStreamUpdateCaptureDependencies_v2_ptsz)

CUDART_12(update_dependencies, "cudaStreamUpdateCaptureDependencies", cudaStream_t stream,
          cudaGraphNode_t *dependencies, std::size_t count, unsigned int flags) {
    return update_dependencies_2(stream, dependencies, nullptr, count, flags);
}
CUDART_DEFINE_PER_THREAD(update_dependencies, cudaStreamUpdateCaptureDependencies_ptsz)

CUDART_12(get_edges_2, "cudaGraphGetEdges_v2", cudaGraph_t graph, cudaGraphNode_t *from,
          cudaGraphNode_t *to, cudaGraphEdgeData *edges, std::size_t *count) {
    return forward<cuGraphGetEdges>(graph, from, to, as<CUgraphEdgeData *>(edges), count);
}

CUDART_12(get_edges, "cudaGraphGetEdges", cudaGraph_t graph, cudaGraphNode_t *from,
          cudaGraphNode_t *to, std::size_t *count) {
    return get_edges_2(graph, from, to, nullptr, count);
}

CUDART_12(get_dependencies_2, "cudaGraphNodeGetDependencies_v2", cudaGraphNode_t node,
          cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, std::size_t *count) {
    return forward<cuGraphNodeGetDependencies>(node, nodes, as<CUgraphEdgeData *>(edges), count);
}

CUDART_12(get_dependencies, "cudaGraphNodeGetDependencies", cudaGraphNode_t node,
          cudaGraphNode_t *nodes, std::size_t *count) {
    return get_dependencies_2(node, nodes, nullptr, count);
}

CUDART_12(get_dependent_nodes_2, "cudaGraphNodeGetDependentNodes_v2", cudaGraphNode_t node,
          cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, std::size_t *count) {
    return forward<cuGraphNodeGetDependentNodes>(node, nodes, as<CUgraphEdgeData *>(edges), count);
}

CUDART_12(get_dependent_nodes, "cudaGraphNodeGetDependentNodes", cudaGraphNode_t node,
          cudaGraphNode_t *nodes, std::size_t *count) {
    return get_dependent_nodes_2(node, nodes, nullptr, count);
}

CUDART_12(add_dependencies_2, "cudaGraphAddDependencies_v2", cudaGraph_t graph,
          const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
          std::size_t count) {
    return forward<cuGraphAddDependencies>(graph, from, to, as<const CUgraphEdgeData *>(edges),
                                           count);
}

CUDART_12(add_dependencies, "cudaGraphAddDependencies", cudaGraph_t graph,
          const cudaGraphNode_t *from, const cudaGraphNode_t *to, std::size_t count) {
    return add_dependencies_2(graph, from, to, nullptr, count);
}

CUDART_12(remove_dependencies_2, "cudaGraphRemoveDependencies_v2", cudaGraph_t graph,
          const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
          std::size_t count) {
    return forward<cuGraphRemoveDependencies>(graph, from, to, as<const CUgraphEdgeData *>(edges),
                                              count);
}

CUDART_12(remove_dependencies, "cudaGraphRemoveDependencies", cudaGraph_t graph,
          const cudaGraphNode_t *from, const cudaGraphNode_t *to, std::size_t count) {
    return remove_dependencies_2(graph, from, to, nullptr, count);
}

CUDART_12(add_node_2, "cudaGraphAddNode_v2", cudaGraphNode_t *node, cudaGraph_t graph,
          const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges, std::size_t count,
          cudaGraphNodeParams *params) {
    return with_context([&] {
        require_non_null(params);
        CUgraphNodeParams same = to_driver(*params);
        check(cuGraphAddNode(node, graph, dependencies, as<const CUgraphEdgeData *>(edges), count,
                             &same));
        take_results(*params, same);
    });
}

CUDART_12(add_node, "cudaGraphAddNode", cudaGraphNode_t *node, cudaGraph_t graph,
          const cudaGraphNode_t *dependencies, std::size_t count, cudaGraphNodeParams *params) {
    return add_node_2(node, graph, dependencies, nullptr, count, params);
}
