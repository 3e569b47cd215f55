// capture.cpp -- captures streams. The functions that differ between CUDA 12 and 13 are in
// cuda_12.cpp and cuda_13.cpp.
#include "call.h"
#include "default_stream.h"

using namespace softcudart;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return forward<cuStreamBeginCapture>(stream_of(stream), static_cast<CUstreamCaptureMode>(mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *edges, std::size_t count,
                                          cudaStreamCaptureMode mode) {
    return forward<cuStreamBeginCaptureToGraph>(stream_of(stream), graph, dependencies,
                                                as<const CUgraphEdgeData *>(edges), count,
                                                static_cast<CUstreamCaptureMode>(mode));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
    return forward<cuThreadExchangeStreamCaptureMode>(as<CUstreamCaptureMode *>(mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    return forward<cuStreamEndCapture>(stream_of(stream), graph);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    return forward<cuStreamIsCapturing>(stream_of(stream), as<CUstreamCaptureStatus *>(status));
}
