// graph_test.cpp -- graphs: built node by node, captured from streams, launched, updated.
#include "driver_test.h"

namespace {

class GraphTest : public DriverTest {
  protected:
    void SetUp() override {
        DriverTest::SetUp();
        list_ = allocate(64);
        ASSERT_EQ(cuMemsetD32(list_, 0, 16), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
    }

    /// A node that appends a value to the list: list[++list[0]] = value.
    CUgraphNode append_node(int value, std::vector<CUgraphNode> after = {}) {
        CUDA_KERNEL_NODE_PARAMS params = append_params(value);
        CUgraphNode node = nullptr;
        EXPECT_EQ(cuGraphAddKernelNode(&node, graph_, after.data(), after.size(), &params),
                  CUDA_SUCCESS);
        return node;
    }

    /// Valid until the next call.
    CUDA_KERNEL_NODE_PARAMS append_params(int value) {
        value_ = value;
        CUDA_KERNEL_NODE_PARAMS params{};
        params.func = function("append");
        params.gridDimX = params.gridDimY = params.gridDimZ = 1;
        params.blockDimX = params.blockDimY = params.blockDimZ = 1;
        params.kernelParams = arguments_;
        return params;
    }

    /// Launches the graph once and returns the resulting list.
    std::vector<std::int32_t> run(CUgraphExec exec) {
        EXPECT_EQ(cuMemsetD32(list_, 0, 16), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        std::vector<std::int32_t> words = read_words(list_, 16);
        const auto count = static_cast<std::size_t>(words[0]);
        return {words.begin() + 1, words.begin() + 1 + static_cast<long>(count)};
    }

    CUgraphExec instantiate() {
        CUgraphExec exec = nullptr;
        EXPECT_EQ(cuGraphInstantiate(&exec, graph_, 0), CUDA_SUCCESS);
        return exec;
    }

    CUgraph graph_ = nullptr;
    CUdeviceptr list_ = 0;
    int value_ = 0;
    void *arguments_[2] = {&list_, &value_};
};

using List = std::vector<std::int32_t>;

TEST_F(GraphTest, NodesRunAfterTheirDependencies) {
    // Created in another order than that of their execution.
    CUgraphNode third = append_node(3), second = append_node(2), first = append_node(1);
    ASSERT_EQ(cuGraphAddDependencies(graph_, &first, &second, nullptr, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddDependencies(graph_, &second, &third, nullptr, 1), CUDA_SUCCESS);
    CUgraphExec exec = instantiate();
    EXPECT_EQ(run(exec), (List{1, 2, 3}));
    EXPECT_EQ(run(exec), (List{1, 2, 3})) << "again";
    EXPECT_EQ(cuGraphAddDependencies(graph_, &first, &second, nullptr, 1), CUDA_ERROR_INVALID_VALUE)
        << "it is there already";
    ASSERT_EQ(cuGraphAddDependencies(graph_, &third, &first, nullptr, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphInstantiate(&exec, graph_, 0), CUDA_ERROR_INVALID_VALUE) << "a circle";
}

TEST_F(GraphTest, ReturnsItsNodesAndEdges) {
    CUgraphNode first = append_node(1), second = append_node(2, {first});
    std::size_t count = 0;
    ASSERT_EQ(cuGraphGetNodes(graph_, nullptr, &count), CUDA_SUCCESS);
    EXPECT_EQ(count, 2U);
    CUgraphNode roots[2] = {second, second};
    count = 2;
    ASSERT_EQ(cuGraphGetRootNodes(graph_, roots, &count), CUDA_SUCCESS);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(roots[0], first);
    EXPECT_EQ(roots[1], nullptr);
    CUgraphNode from = nullptr, to = nullptr;
    count = 1;
    ASSERT_EQ(cuGraphGetEdges(graph_, &from, &to, nullptr, &count), CUDA_SUCCESS);
    EXPECT_EQ(from, first);
    EXPECT_EQ(to, second);
    CUgraphNodeType type{};
    ASSERT_EQ(cuGraphNodeGetType(first, &type), CUDA_SUCCESS);
    EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
    ASSERT_EQ(cuGraphDestroyNode(first), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphNodeGetDependencies(second, nullptr, nullptr, &count), CUDA_SUCCESS);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(cuGraphNodeGetType(first, &type), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphTest, KernelParametersAreCopiedAndCanBeChanged) {
    CUgraphNode node = append_node(5);
    CUDA_KERNEL_NODE_PARAMS got{};
    ASSERT_EQ(cuGraphKernelNodeGetParams(node, &got), CUDA_SUCCESS);
    EXPECT_EQ(got.func, function("append"));
    EXPECT_EQ(*static_cast<int *>(got.kernelParams[1]), 5);
    CUgraphExec exec = instantiate();
    value_ = 99; // no longer used
    EXPECT_EQ(run(exec), (List{5}));
    CUDA_KERNEL_NODE_PARAMS params = append_params(6);
    ASSERT_EQ(cuGraphExecKernelNodeSetParams(exec, node, &params), CUDA_SUCCESS);
    EXPECT_EQ(run(exec), (List{6}));
    ASSERT_EQ(cuGraphNodeSetEnabled(exec, node, 0), CUDA_SUCCESS);
    EXPECT_EQ(run(exec), List{});
    params.blockDimX = 5000;
    EXPECT_EQ(cuGraphKernelNodeSetParams(node, &params), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphTest, AKernelWithoutBlocksIsSetBeforeTheLaunch) {
    CUDA_KERNEL_NODE_PARAMS params = append_params(5);
    params.gridDimX = 0;
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddKernelNode(&node, graph_, nullptr, 0, &params), CUDA_SUCCESS);
    CUgraphExec exec = instantiate();
    EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_VALUE);
    params.gridDimX = 1;
    ASSERT_EQ(cuGraphExecKernelNodeSetParams(exec, node, &params), CUDA_SUCCESS);
    EXPECT_EQ(run(exec), (List{5}));
}

TEST_F(GraphTest, AConditionBelongsToItsGraph) {
    CUgraph other = nullptr;
    ASSERT_EQ(cuGraphCreate(&other, 0), CUDA_SUCCESS);
    CUgraphConditionalHandle handle = 0;
    ASSERT_EQ(cuGraphConditionalHandleCreate(&handle, other, nullptr, 1, 0), CUDA_SUCCESS);
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddNode(&node, graph_, nullptr, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphAddNode(&node, other, nullptr, nullptr, 0, &params), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(other), CUDA_SUCCESS);
}

TEST_F(GraphTest, CopiesFillsAndHostFunctions) {
    const CUdeviceptr memory = allocate(16);
    std::vector<std::int32_t> result(4);
    int calls = 0;
    CUDA_MEMSET_NODE_PARAMS fill{memory, 0, 7, 4, 4, 1};
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = memory;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = result.data();
    copy.WidthInBytes = 16;
    copy.Height = copy.Depth = 1;
    CUDA_HOST_NODE_PARAMS host{[](void *counter) { ++*static_cast<int *>(counter); }, &calls};
    CUgraphNode filled = nullptr, copied = nullptr, called = nullptr, nothing = nullptr;
    ASSERT_EQ(cuGraphAddMemsetNode(&filled, graph_, nullptr, 0, &fill, context_), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddEmptyNode(&nothing, graph_, &filled, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddMemcpyNode(&copied, graph_, &nothing, 1, &copy, context_), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddHostNode(&called, graph_, &copied, 1, &host), CUDA_SUCCESS);
    CUgraphExec exec = instantiate();
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(result, (std::vector<std::int32_t>(4, 7)));
    EXPECT_EQ(calls, 2);
    CUDA_MEMCPY3D outside = copy;
    outside.WidthInBytes = 400;
    EXPECT_EQ(cuGraphMemcpyNodeSetParams(copied, &outside), CUDA_ERROR_INVALID_VALUE);
    CUDA_MEMSET_NODE_PARAMS got{};
    ASSERT_EQ(cuGraphMemsetNodeGetParams(filled, &got), CUDA_SUCCESS);
    EXPECT_EQ(got.value, 7U);
    EXPECT_EQ(got.width, 4U);
}

TEST_F(GraphTest, GraphsNestAndAreCloned) {
    CUgraph inner = graph_;
    CUgraphNode first = append_node(1);
    append_node(2, {first});
    ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
    CUgraphNode child = nullptr;
    ASSERT_EQ(cuGraphAddChildGraphNode(&child, graph_, nullptr, 0, inner), CUDA_SUCCESS);
    append_node(3, {child});
    graph_ = std::exchange(inner, graph_);
    append_node(9); // after the graph was added as a child
    graph_ = inner;
    CUgraph clone = nullptr;
    ASSERT_EQ(cuGraphClone(&clone, graph_), CUDA_SUCCESS);
    CUgraphNode found = nullptr;
    ASSERT_EQ(cuGraphNodeFindInClone(&found, child, clone), CUDA_SUCCESS);
    EXPECT_NE(found, child);
    ASSERT_EQ(cuGraphDestroy(graph_), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph_), CUDA_ERROR_INVALID_VALUE);
    graph_ = clone;
    EXPECT_EQ(run(instantiate()), (List{1, 2, 3}));
}

TEST_F(GraphTest, AnUpdateReplacesWorkOrReportsTheDifference) {
    append_node(1);
    CUgraphExec exec = instantiate();
    ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
    CUgraphNode only = append_node(8);
    CUgraphExecUpdateResultInfo info{};
    ASSERT_EQ(cuGraphExecUpdate(exec, graph_, &info), CUDA_SUCCESS);
    EXPECT_EQ(run(exec), (List{8}));
    append_node(4, {only});
    EXPECT_EQ(cuGraphExecUpdate(exec, graph_, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    EXPECT_EQ(run(exec), (List{8}));
}

TEST_F(GraphTest, StreamsAreCapturedAcrossEvents) {
    CUstream first = nullptr, second = nullptr;
    CUevent forked = nullptr, joined = nullptr;
    ASSERT_EQ(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&forked, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&joined, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    ASSERT_EQ(launch("append", 1, 1, first, list_, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(forked, first), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(second, forked, 0), CUDA_SUCCESS);
    CUstreamCaptureStatus status{};
    ASSERT_EQ(cuStreamIsCapturing(second, &status), CUDA_SUCCESS);
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ASSERT_EQ(launch("append", 1, 1, second, list_, 2), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(joined, second), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(first, joined, 0), CUDA_SUCCESS);
    ASSERT_EQ(launch("append", 1, 1, first, list_, 3), CUDA_SUCCESS);
    EXPECT_EQ(read_words(list_, 1)[0], 0) << "nothing has run";
    ASSERT_EQ(cuStreamEndCapture(first, &graph_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamIsCapturing(second, &status), CUDA_SUCCESS);
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT_EQ(run(instantiate()), (List{1, 2, 3}));
}

TEST_F(GraphTest, InvalidCapturesAreErrors) {
    CUstream stream = nullptr, other = nullptr;
    CUevent event = nullptr;
    CUgraph graph = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&other, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    EXPECT_EQ(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
              CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    // Waiting for captured work invalidates the capture.
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
              CUDA_ERROR_ILLEGAL_STATE);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_EQ(launch("append", 1, 1, stream, list_, 1), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS) << "it is an ordinary stream again";
    // The legacy stream would have to wait for it.
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    EXPECT_EQ(launch("append", 1, 1, nullptr, list_, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    // A stream that joined the capture is not joined back.
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(other, event, 0), CUDA_SUCCESS);
    ASSERT_EQ(launch("append", 1, 1, other, list_, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    EXPECT_EQ(graph, nullptr);
    // The destruction of a stream ends its capture.
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(GraphTest, ExternalEventsBecomeNodesOfTheirCapture) {
    CUstream stream = nullptr;
    CUevent before = nullptr, after = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&before, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&after, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuEventRecordWithFlags(after, stream, CU_EVENT_RECORD_EXTERNAL),
              CUDA_ERROR_ILLEGAL_STATE);
    EXPECT_EQ(cuStreamWaitEvent(stream, before, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_ILLEGAL_STATE);
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(stream, before, CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
    ASSERT_EQ(launch("append", 1, 1, stream, list_, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecordWithFlags(after, stream, CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(after), CUDA_SUCCESS) << "the graph has not run";
    ASSERT_EQ(cuStreamEndCapture(stream, &graph_), CUDA_SUCCESS);
    CUgraphNode nodes[3] = {};
    std::size_t count = 3;
    ASSERT_EQ(cuGraphGetNodes(graph_, nodes, &count), CUDA_SUCCESS);
    ASSERT_EQ(count, 3u);
    const CUgraphNodeType wanted[] = {CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_KERNEL,
                                      CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    for (std::size_t i = 0; i < count; i++) {
        CUgraphNodeType type{};
        ASSERT_EQ(cuGraphNodeGetType(nodes[i], &type), CUDA_SUCCESS);
        EXPECT_EQ(type, wanted[i]);
    }
    EXPECT_EQ(run(instantiate()), (List{1}));
    float milliseconds = -1;
    ASSERT_EQ(cuEventRecord(before, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, after, before), CUDA_SUCCESS);
    EXPECT_GE(milliseconds, 0) << "the graph recorded the event";
}

TEST_F(GraphTest, CapturedEventsCannotBeAskedFor) {
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUgraph graph = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
    for (const auto ask : {cuEventQuery, cuEventSynchronize}) {
        ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
        ASSERT_EQ(launch("append", 1, 1, stream, list_, 1), CUDA_SUCCESS);
        ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
        EXPECT_EQ(ask(event), CUDA_ERROR_CAPTURED_EVENT);
        EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
    }
}

TEST_F(GraphTest, CallbacksAreNotCaptured) {
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    int calls = 0;
    const auto count = [](CUstream, CUresult, void *counter) { ++*static_cast<int *>(counter); };
    EXPECT_EQ(cuStreamAddCallback(stream, count, &calls, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(calls, 0);
}

TEST_F(GraphTest, CaptureInfoHasAnEdgeForEachDependency) {
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    ASSERT_EQ(launch("append", 1, 1, stream, list_, 1), CUDA_SUCCESS);
    CUstreamCaptureStatus status{};
    CUgraph capturing = nullptr;
    const CUgraphNode *nodes = nullptr;
    const CUgraphEdgeData *edges = nullptr;
    std::size_t count = 0;
    ASSERT_EQ(cuStreamGetCaptureInfo(stream, &status, nullptr, &capturing, &nodes, &edges, &count),
              CUDA_SUCCESS);
    ASSERT_EQ(count, 1U);
    ASSERT_NE(edges, nullptr) << "cuda.bindings reads them unasked";
    EXPECT_EQ(edges[0].from_port + edges[0].to_port + edges[0].type, 0);
    CUgraphNode child = nullptr;
    append_node(2);
    ASSERT_EQ(cuGraphAddChildGraphNode(&child, capturing, nodes, count, graph_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamUpdateCaptureDependencies(stream, &child, nullptr, 1,
                                                CU_STREAM_SET_CAPTURE_DEPENDENCIES),
              CUDA_SUCCESS);
    ASSERT_EQ(launch("append", 1, 1, stream, list_, 3), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamEndCapture(stream, &graph_), CUDA_SUCCESS);
    EXPECT_EQ(run(instantiate()), (List{1, 2, 3}));
}

TEST_F(GraphTest, AJoinedStreamMayBeDestroyedBeforeTheCaptureEnds) {
    CUstream first = nullptr, second = nullptr;
    CUevent event = nullptr;
    ASSERT_EQ(cuStreamCreate(&first, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
    for (const bool comes_back : {true, false}) {
        ASSERT_EQ(cuStreamCreate(&second, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
        ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
        ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
        ASSERT_EQ(launch("append", 1, 1, second, list_, 1), CUDA_SUCCESS);
        ASSERT_EQ(cuEventRecord(event, second), CUDA_SUCCESS);
        if (comes_back) {
            ASSERT_EQ(cuStreamWaitEvent(first, event, 0), CUDA_SUCCESS);
        }
        ASSERT_EQ(cuStreamDestroy(second), CUDA_SUCCESS);
        EXPECT_EQ(launch("append", 1, 1, first, list_, 2), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamEndCapture(first, &graph_),
                  comes_back ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        if (comes_back) {
            EXPECT_EQ(run(instantiate()), (List{1, 2}));
        }
    }
}

TEST_F(GraphTest, HandlesOfChildGraphsEndWithTheirNodes) {
    CUgraph child = nullptr, inner = nullptr;
    CUgraphNode node = nullptr;
    std::size_t count = 0;
    ASSERT_EQ(cuGraphCreate(&child, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddChildGraphNode(&node, graph_, nullptr, 0, child), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphChildGraphNodeGetGraph(node, &inner), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphGetNodes(inner, nullptr, &count), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphDestroyNode(node), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphGetNodes(inner, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphNodeGetType(node, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphTest, ANodeMayBeDestroyedWhileItsGraphIsCaptured) {
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    const CUgraphNode node = append_node(1);
    ASSERT_EQ(cuStreamBeginCaptureToGraph(stream, graph_, &node, nullptr, 1,
                                          CU_STREAM_CAPTURE_MODE_GLOBAL),
              CUDA_SUCCESS);
    ASSERT_EQ(cuGraphDestroyNode(node), CUDA_SUCCESS);
    ASSERT_EQ(launch("append", 1, 1, stream, list_, 2), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamEndCapture(stream, &graph_), CUDA_SUCCESS);
    EXPECT_EQ(run(instantiate()), (List{2}));
}

TEST_F(GraphTest, NodesThatWaitForWordsAndWriteThem) {
    CUstreamBatchMemOpParams operations[2]{};
    operations[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operations[0].waitValue.address = list_ + 56;
    operations[0].waitValue.value = 5;
    operations[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    operations[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operations[1].writeValue.address = list_ + 60;
    operations[1].writeValue.value = 6;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context_, 2, operations, 0};
    const CUgraphNode first = append_node(1);
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddBatchMemOpNode(&node, graph_, &first, 1, &params), CUDA_SUCCESS);
    append_node(2, {node});
    CUgraphNodeType type{};
    ASSERT_EQ(cuGraphNodeGetType(node, &type), CUDA_SUCCESS);
    EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    CUDA_BATCH_MEM_OP_NODE_PARAMS got{};
    ASSERT_EQ(cuGraphBatchMemOpNodeGetParams(node, &got), CUDA_SUCCESS);
    ASSERT_EQ(got.count, 2U);
    EXPECT_EQ(got.paramArray[1].writeValue.value, 6U);

    const CUgraphExec exec = instantiate();
    operations[1].writeValue.value = 7;
    ASSERT_EQ(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params), CUDA_SUCCESS);
    CUstream aside = nullptr;
    ASSERT_EQ(cuStreamCreate(&aside, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    ASSERT_EQ(cuStreamWriteValue32(aside, list_ + 56, 5, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    const std::vector<std::int32_t> words = read_words(list_, 16);
    EXPECT_EQ(words[0], 2);
    EXPECT_EQ(words[15], 7);

    operations[0].waitValue.address = 64;
    EXPECT_EQ(cuGraphAddBatchMemOpNode(&node, graph_, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphTest, WordsOfACapturedStream) {
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWriteValue64(stream, list_ + 8, 9, 0), CUDA_SUCCESS);
    CUgraph captured = nullptr;
    ASSERT_EQ(cuStreamEndCapture(stream, &captured), CUDA_SUCCESS);
    EXPECT_EQ(read_words(list_, 4)[2], 0); // not done yet
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&exec, captured, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(read_words(list_, 4)[2], 9);
}

class ConditionalTest : public GraphTest {
  protected:
    CUgraphConditionalHandle condition(unsigned value, unsigned flags, CUgraph graph = nullptr) {
        CUgraphConditionalHandle handle = 0;
        EXPECT_EQ(
            cuGraphConditionalHandleCreate(&handle, graph ? graph : graph_, nullptr, value, flags),
            CUDA_SUCCESS);
        return handle;
    }

    /// Adds a conditional node and stores its bodies in `bodies_`.
    CUresult add_node(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                      unsigned count) {
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
        params.conditional.handle = handle;
        params.conditional.type = type;
        params.conditional.size = count;
        CUgraphNode node = nullptr;
        const CUresult result = cuGraphAddNode_v2(&node, graph_, nullptr, nullptr, 0, &params);
        if (result == CUDA_SUCCESS)
            bodies_.assign(params.conditional.phGraph_out, params.conditional.phGraph_out + count);
        return result;
    }

    /// Adds a node to `graph` that appends a value to the list.
    CUgraphNode append_in(CUgraph graph, int value, CUgraphNode after = nullptr) {
        CUDA_KERNEL_NODE_PARAMS params = append_params(value);
        CUgraphNode node = nullptr;
        EXPECT_EQ(cuGraphAddKernelNode(&node, graph, &after, after ? 1 : 0, &params), CUDA_SUCCESS);
        return node;
    }

    static CUgraphNode copy_in(CUgraph graph, CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                               CUgraphNode after, CUcontext context) {
        CUDA_MEMCPY3D copy{};
        copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = from;
        copy.dstDevice = to;
        copy.WidthInBytes = bytes;
        copy.Height = copy.Depth = 1;
        CUgraphNode node = nullptr;
        EXPECT_EQ(cuGraphAddMemcpyNode(&node, graph, &after, 1, &copy, context), CUDA_SUCCESS);
        return node;
    }

    std::vector<CUgraph> bodies_;
};

TEST_F(ConditionalTest, IfRunsTheBodyForTheValue) {
    for (unsigned value : {0U, 1U}) {
        ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
        ASSERT_EQ(
            add_node(condition(value, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 2),
            CUDA_SUCCESS);
        append_in(bodies_[0], 10);
        append_in(bodies_[1], 20);
        CUgraphExec exec = instantiate();
        EXPECT_EQ(run(exec), List{value ? 10 : 20});
        EXPECT_EQ(run(exec), List{value ? 10 : 20});
    }
}

TEST_F(ConditionalTest, SwitchRunsOneBodyOrNone) {
    const CUgraphConditionalHandle handle = condition(0, 0);
    ASSERT_EQ(add_node(handle, CU_GRAPH_COND_TYPE_SWITCH, 3), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        append_in(bodies_[static_cast<std::size_t>(i)], i + 1);
    CUgraphExec exec = instantiate();
    for (int value = 0; value < 4; value++) { // set by a kernel, like cudaGraphSetConditional
        ASSERT_EQ(launch("store", 1, 1, nullptr, CUdeviceptr{handle}, value), CUDA_SUCCESS);
        EXPECT_EQ(run(exec), value < 3 ? List{value + 1} : List{});
    }
}

TEST_F(ConditionalTest, WhileRunsUntilItsBodySetsZero) {
    const CUgraphConditionalHandle handle = condition(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    ASSERT_EQ(add_node(handle, CU_GRAPH_COND_TYPE_WHILE, 1), CUDA_SUCCESS);
    // The body reads its next value from a row: 1 1 0.
    const std::int32_t row[] = {1, 1, 0, 0};
    const CUdeviceptr values = allocate(16), rest = allocate(16), fresh = allocate(16);
    ASSERT_EQ(cuMemcpyHtoD(fresh, row, 16), CUDA_SUCCESS);
    CUgraphNode node = append_in(bodies_[0], 7);
    node = copy_in(bodies_[0], handle, values, 4, node, context_);
    node = copy_in(bodies_[0], rest, values + 4, 12, node, context_);
    copy_in(bodies_[0], values, rest, 12, node, context_);
    CUgraphExec exec = instantiate();
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(cuMemcpyDtoD(values, fresh, 16), CUDA_SUCCESS);
        EXPECT_EQ(run(exec), (List{7, 7, 7}));
    }
}

TEST_F(ConditionalTest, EndlessLoopIsInterrupted) {
    ASSERT_EQ(add_node(condition(1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_WHILE, 1),
              CUDA_SUCCESS);
    CUgraphExec exec = instantiate();
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    ASSERT_EQ(scuCtxInterrupt(context_), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(ConditionalTest, FaultInABodyEndsTheLoop) {
    ASSERT_EQ(add_node(condition(1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_WHILE, 1),
              CUDA_SUCCESS);
    CUDA_KERNEL_NODE_PARAMS params = append_params(0);
    params.func = function("trap");
    params.kernelParams = nullptr;
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddKernelNode(&node, bodies_[0], nullptr, 0, &params), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(instantiate(), nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(ConditionalTest, WrongDescriptionsAreErrors) {
    const CUgraphConditionalHandle handle = condition(1, 0);
    EXPECT_EQ(add_node(handle + 8, CU_GRAPH_COND_TYPE_IF, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(add_node(handle, CU_GRAPH_COND_TYPE_IF, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(add_node(handle, CU_GRAPH_COND_TYPE_WHILE, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(add_node(handle, CU_GRAPH_COND_TYPE_SWITCH, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphConditionalHandleCreate(nullptr, graph_, nullptr, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(add_node(handle, CU_GRAPH_COND_TYPE_WHILE, 1), CUDA_SUCCESS);
    CUgraph clone = nullptr;
    EXPECT_EQ(cuGraphClone(&clone, graph_), CUDA_ERROR_NOT_SUPPORTED);
}

} // namespace
