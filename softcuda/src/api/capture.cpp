// capture.cpp -- captures the work of streams in graphs.
#include "device/graphs/capture.h"
#include "api/default_stream.h"
#include "api/graph.h"

#include <utility>

using namespace softcuda;
using device::Context;
using device::Graph;
using device::GraphNode;
using device::Stream;
namespace capture = device::capture;

namespace {

/// A call for one stream: body(stream).
template <class Body> CUresult with_stream(CUstream handle, Body &&body) noexcept {
    return api::with_context_of(handle, [&](Context &context) {
        std::lock_guard lock(device::graph_mutex());
        return body(*api::find_stream(context, handle));
    });
}

CUgraph handle_of(const std::shared_ptr<Graph> &graph) {
    return reinterpret_cast<CUgraph>(graph.get());
}

/// Writes the results of cuStreamGetCaptureInfo except the status. The arrays belong to the calling
/// thread and are valid until its next call; with CUDA they are valid until the next call for the
/// stream.
void give_info(const capture::State &state, cuuint64_t *id, CUgraph *graph,
               const CUgraphNode **dependencies, const CUgraphEdgeData **edges,
               std::size_t *count) {
    static thread_local std::vector<CUgraphNode> handles;
    static thread_local std::vector<CUgraphEdgeData> plain;
    if (state.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return;
    if (id)
        *id = state.id;
    if (graph) {
        device::registry<Graph>().add(state.graph);
        *graph = handle_of(state.graph);
    }
    handles.clear();
    for (GraphNode *node : state.dependencies)
        handles.push_back(api::handle_of(*node));
    if (dependencies)
        *dependencies = handles.data();
    plain.resize(handles.size()); // zeros: clients read as many as there are dependencies
    if (edges)
        *edges = plain.data();
    if (count)
        *count = handles.size();
}

CUresult update_dependencies(CUstream handle, const CUgraphNode *nodes, std::size_t count,
                             unsigned flags) {
    return with_stream(handle, [&](Stream &stream) {
        device::require(flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES ||
                            flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES,
                        CUDA_ERROR_INVALID_VALUE);
        capture::update_dependencies(stream, api::find_nodes(nodes, count),
                                     flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES
                                         ? capture::Dependencies::Add
                                         : capture::Dependencies::Set);
    });
}

} // namespace

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
    return with_stream(handle, [&](Stream &stream) { capture::begin(stream, mode); });
}

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph,
                                     const CUgraphNode *dependencies, const CUgraphEdgeData *edges,
                                     std::size_t count, CUstreamCaptureMode mode) {
    return with_stream(handle, [&](Stream &stream) {
        api::require_plain_edges(edges, count);
        capture::begin(stream, mode, api::find_graph(graph), api::find_nodes(dependencies, count));
    });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *result) {
    return with_stream(handle, [&](Stream &stream) {
        if (!result) { // the graph is lost, unless it is the program's own
            static_cast<void>(capture::end(stream));
            return;
        }
        *result = nullptr;
        *result = api::publish(capture::end(stream));
    });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
    return with_stream(handle, [&](Stream &stream) {
        api::require_non_null(status);
        *status = capture::query(stream).status;
    });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    return api::guarded([&] {
        api::require_non_null(mode);
        device::require(*mode >= CU_STREAM_CAPTURE_MODE_GLOBAL &&
                            *mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
                        CUDA_ERROR_INVALID_VALUE);
        std::swap(capture::thread_mode(), *mode);
    });
}

#undef cuStreamBeginCapture
#undef cuStreamGetCaptureInfo
#undef cuStreamUpdateCaptureDependencies
SCU_EXPORT CUresult CUDAAPI cuStreamBeginCapture(CUstream handle) {
    return cuStreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

SCU_EXPORT CUresult CUDAAPI cuStreamGetCaptureInfo_v3(
    CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
    const CUgraphNode **dependencies, const CUgraphEdgeData **edges, std::size_t *count) {
    return with_stream(handle, [&](Stream &stream) {
        api::require_non_null(status);
        const capture::State state = capture::query(stream);
        *status = state.status;
        give_info(state, id, graph, dependencies, edges, count);
    });
}

SCU_EXPORT CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream handle,
                                                      CUstreamCaptureStatus *status, cuuint64_t *id,
                                                      CUgraph *graph,
                                                      const CUgraphNode **dependencies,
                                                      std::size_t *count) {
    return cuStreamGetCaptureInfo_v3(handle, status, id, graph, dependencies, nullptr, count);
}

SCU_EXPORT CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status,
                                                   cuuint64_t *id) {
    return cuStreamGetCaptureInfo_v3(handle, status, id, nullptr, nullptr, nullptr, nullptr);
}

SCU_EXPORT CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode *nodes,
                                                              std::size_t count,
                                                              unsigned int flags) {
    return update_dependencies(handle, nodes, count, flags);
}

SCU_EXPORT CUresult CUDAAPI cuStreamUpdateCaptureDependencies_v2(CUstream handle,
                                                                 CUgraphNode *nodes,
                                                                 const CUgraphEdgeData *edges,
                                                                 std::size_t count,
                                                                 unsigned int flags) {
    const CUresult plain = api::guarded([&] { api::require_plain_edges(edges, count); });
    return plain == CUDA_SUCCESS ? update_dependencies(handle, nodes, count, flags) : plain;
}
