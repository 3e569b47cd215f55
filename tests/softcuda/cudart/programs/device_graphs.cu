// device_graphs.cu -- graphs that kernels launch, and a node that a kernel changes.
#include "program.h"

#include <vector>

__global__ void append(int *list, int value) { list[++list[0]] = value; }

/// Fires `child`, and launches its own graph again until the list has `most` elements or more.
__global__ void repeat(int *list, int most, cudaGraphExec_t child) {
    list[++list[0]] = 0;
    if (list[0] < most)
        cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
    cudaGraphLaunch(child, cudaStreamGraphFireAndForget);
}

__global__ void change(cudaGraphDeviceNode_t node, int value) {
    cudaGraphKernelNodeSetParam(node, 8, value);
}

template <class... Arguments>
cudaGraphNode_t add(cudaGraph_t graph, void (*kernel)(Arguments...), Arguments... arguments) {
    void *pointers[] = {&arguments...};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void *>(kernel);
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = pointers;
    cudaGraphNode_t node;
    CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    return node;
}

cudaGraph_t make_graph() {
    cudaGraph_t graph;
    CUDA(cudaGraphCreate(&graph, 0));
    return graph;
}

cudaGraphExec_t for_kernels(cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphInstantiateParams params = {};
    params.flags = cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUpload;
    params.uploadStream = stream;
    cudaGraphExec_t executable;
    CUDA(cudaGraphInstantiateWithParams(&executable, graph, &params));
    return executable;
}

int main() {
    int *list;
    CUDA(cudaMallocManaged(&list, 4096));
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));

    list[0] = 0;
    cudaGraph_t child = make_graph(), loop = make_graph();
    add(child, append, list, 1);
    add(loop, repeat, list, 399, for_kernels(child, stream));
    CUDA(cudaGraphLaunch(for_kernels(loop, stream), stream));
    append<<<1, 1, 0, stream>>>(list, 9);
    CUDA(cudaStreamSynchronize(stream));
    CHECK(list[0] == 401 && list[401] == 9);
    for (int i = 1; i <= 400; i++)
        CHECK(list[i] == (i % 2 == 0));

    list[0] = 0;
    cudaGraph_t graph = make_graph();
    cudaGraphNode_t changed = add(graph, append, list, 3);
    cudaKernelNodeAttrValue attribute = {};
    attribute.deviceUpdatableKernelNode.deviceUpdatable = 1;
    CUDA(cudaGraphKernelNodeSetAttribute(changed, cudaLaunchAttributeDeviceUpdatableKernelNode,
                                         &attribute));
    CUDA(cudaGraphKernelNodeGetAttribute(changed, cudaLaunchAttributeDeviceUpdatableKernelNode,
                                         &attribute));
    cudaGraphNode_t first =
        add(graph, change, attribute.deviceUpdatableKernelNode.devNode, 77);
    cudaGraphNode_t edges[] = {first, changed};
    CUDA(cudaGraphAddDependencies(graph, &edges[0], &edges[1], nullptr, 1));
    cudaGraphExec_t executable;
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CUDA(cudaGraphLaunch(executable, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(list[0] == 1 && list[1] == 77);
    std::puts("passed");
}
