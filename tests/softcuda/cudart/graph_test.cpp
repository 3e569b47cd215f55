// graph_test.cpp -- graphs, built explicitly and captured.
#include "cudart_test.h"

namespace {

using GraphTest = CudartTest;

TEST_F(GraphTest, CapturedWorkRunsAgain) {
    int *values = make({0, 0});
    cudaStream_t stream = nullptr;
    ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ASSERT_OK(add(values, 2, 1, stream));
    ASSERT_OK(add(values, 2, 1, stream));
    cudaStreamCaptureStatus status{};
    std::size_t count = 0;
    const cudaGraphNode_t *nodes = nullptr;
    ASSERT_OK(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, &count));
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    EXPECT_EQ(count, 1U);
    cudaGraph_t graph = nullptr;
    ASSERT_OK(cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(read(values, 2), (std::vector<int>{0, 0}));
    cudaGraphExec_t executable = nullptr;
    ASSERT_OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; i++)
        ASSERT_OK(cudaGraphLaunch(executable, stream));
    ASSERT_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(read(values, 2), (std::vector<int>{48, 48}));

    ASSERT_OK(cudaGraphGetNodes(graph, nullptr, &count));
    ASSERT_EQ(count, 2U);
    cudaGraphNode_t all[2];
    ASSERT_OK(cudaGraphGetNodes(graph, all, &count));
    cudaKernelNodeParams params{};
    ASSERT_OK(cudaGraphKernelNodeGetParams(all[0], &params));
    EXPECT_EQ(params.func, &add_stub);
    EXPECT_EQ(params.blockDim.x, 32U);
    int n = 2;
    int step = 100;
    void *arguments[] = {&values, &n, &step};
    params.kernelParams = arguments;
    ASSERT_OK(cudaGraphExecKernelNodeSetParams(executable, all[0], &params));
    ASSERT_OK(cudaGraphLaunch(executable, stream));
    ASSERT_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(read(values, 2), (std::vector<int>{48 + 115, 48 + 115}));
    EXPECT_OK(cudaGraphExecDestroy(executable));
    EXPECT_OK(cudaGraphDestroy(graph));
    EXPECT_OK(cudaStreamDestroy(stream));
}

// As on an H200 with driver 580: the capture ends, and its graph is lost.
TEST_F(GraphTest, ACaptureEndsWithoutAPlaceForItsGraph) {
    cudaStream_t stream = nullptr;
    ASSERT_OK(cudaStreamCreate(&stream));
    EXPECT_EQ(cudaStreamEndCapture(stream, nullptr), cudaErrorIllegalState);
    ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_OK(cudaStreamEndCapture(stream, nullptr));
    cudaStreamCaptureStatus status{};
    ASSERT_OK(cudaStreamIsCapturing(stream, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    EXPECT_EQ(graph, nullptr);
}

TEST_F(GraphTest, FreeingNothingIsRefusedInACaptureAsWell) {
    ASSERT_OK(cudaFree(nullptr));
    cudaStream_t stream = nullptr;
    ASSERT_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_EQ(cudaFree(nullptr), cudaErrorStreamCaptureUnsupported);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(GraphTest, NodesOfEachKindRunInOrder) {
    int *values = make({1, 1, 1, 1});
    int seen = 0;
    int result[4] = {};
    cudaGraph_t graph = nullptr;
    ASSERT_OK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t fill = nullptr;
    cudaMemsetParams zero{};
    zero.dst = values;
    zero.value = 3;
    zero.elementSize = 4;
    zero.width = 4;
    zero.height = 1;
    ASSERT_OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
    cudaGraphNode_t symbol = nullptr;
    const int table[] = {1, 2, 3, 4};
    ASSERT_OK(cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, nullptr, 0, table_shadow, table, 16, 0,
                                             cudaMemcpyHostToDevice));
    int n = 4;
    int step = 10;
    void *arguments[] = {&values, &n, &step};
    cudaGraphNodeParams kernel{};
    kernel.type = cudaGraphNodeTypeKernel;
    kernel.kernel.func = &add_stub;
    kernel.kernel.gridDim = {1, 1, 1};
    kernel.kernel.blockDim = {32, 1, 1};
    kernel.kernel.kernelParams = arguments;
    const cudaGraphNode_t before[] = {fill, symbol};
    cudaGraphNode_t run = nullptr;
    ASSERT_OK(cudaGraphAddNode(&run, graph, before, nullptr, 2, &kernel));
    cudaGraphNode_t copy = nullptr;
    ASSERT_OK(cudaGraphAddMemcpyNode1D(&copy, graph, &run, 1, result, values, 16,
                                       cudaMemcpyDeviceToHost));
    cudaGraphNode_t host = nullptr;
    const cudaHostNodeParams call = {[](void *data) { ++*static_cast<int *>(data); }, &seen};
    ASSERT_OK(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    cudaMemcpy3DParms described{};
    ASSERT_OK(cudaGraphMemcpyNodeGetParams(copy, &described));
    EXPECT_EQ(described.extent.width, 16U);
    EXPECT_EQ(described.dstPtr.ptr, result);
    EXPECT_EQ(described.kind, cudaMemcpyDeviceToHost);
    std::size_t edges = 0;
    ASSERT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT_EQ(edges, 4U);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiateParams params{};
    ASSERT_OK(cudaGraphInstantiateWithParams(&executable, graph, &params));
    EXPECT_EQ(params.result_out, cudaGraphInstantiateSuccess);
    ASSERT_OK(cudaGraphLaunch(executable, nullptr));
    ASSERT_OK(cudaDeviceSynchronize());
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(std::vector<int>(result, result + 4), (std::vector<int>{21, 22, 23, 24}));
    EXPECT_OK(cudaGraphExecDestroy(executable));
    EXPECT_OK(cudaGraphDestroy(graph));
}

TEST_F(GraphTest, TheCallerGetsTheMemoryOfAGraph) {
    cudaGraph_t graph = nullptr;
    ASSERT_OK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemAlloc;
    params.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    params.alloc.poolProps.location = {cudaMemLocationTypeDevice, {0}};
    params.alloc.bytesize = 1024;
    cudaGraphNode_t allocate = nullptr;
    ASSERT_OK(cudaGraphAddNode(&allocate, graph, nullptr, nullptr, 0, &params));
    ASSERT_NE(params.alloc.dptr, nullptr);
    cudaGraphNode_t free = nullptr;
    ASSERT_OK(cudaGraphAddMemFreeNode(&free, graph, &allocate, 1, params.alloc.dptr));
    void *freed = nullptr;
    ASSERT_OK(cudaGraphMemFreeNodeGetParams(free, &freed));
    EXPECT_EQ(freed, params.alloc.dptr);
    EXPECT_OK(cudaGraphDestroy(graph));
}

} // namespace
