// graphs.cu -- a captured graph, and a graph whose kernel is replaced.
#include "program.h"

__global__ void add(int *value, int step) { *value += step; }
__global__ void multiply(int *value, int factor) { *value *= factor; }

/// The graph exists before the capture, so the end of the capture need not return it.
void capture_into_a_graph(int *value, cudaStream_t stream) {
    cudaGraph_t graph;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                       cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(value, 5);
    CUDA(cudaStreamEndCapture(stream, nullptr));
    std::size_t count = 0;
    CUDA(cudaGraphGetNodes(graph, nullptr, &count));
    CHECK(count == 1);
    CUDA(cudaGraphDestroy(graph));
}

int main() {
    int *value;
    CUDA(cudaMallocManaged(&value, 4));
    *value = 1;
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    capture_into_a_graph(value, stream);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(value, 2);
    multiply<<<1, 1, 0, stream>>>(value, 3);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    CUDA(cudaGraphLaunch(executable, stream));
    CUDA(cudaGraphLaunch(executable, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(*value == ((1 + 2) * 3 + 2) * 3);

    cudaGraphNode_t root;
    std::size_t count = 1;
    CUDA(cudaGraphGetRootNodes(graph, &root, &count));
    CHECK(count == 1);
    cudaKernelNodeParams params = {};
    CUDA(cudaGraphKernelNodeGetParams(root, &params));
    CHECK(params.func == (void *)add);
    int step = 10;
    void *arguments[] = {&value, &step};
    params.kernelParams = arguments;
    CUDA(cudaGraphExecKernelNodeSetParams(executable, root, &params));
    *value = 0;
    CUDA(cudaGraphLaunch(executable, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(*value == 30);
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    std::puts("passed");
}
