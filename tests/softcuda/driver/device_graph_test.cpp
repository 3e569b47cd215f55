// device_graph_test.cpp -- graphs that kernels launch, and nodes that kernels change. What an H200
// does in these cases was asked with CUDA 13.0.
#include "device/graphs/device_graph.h"
#include "device/graphs/graph.h"
#include "driver_test.h"

#include <utility>
#include <vector>

namespace {

using softcuda::DeviceCall;
using List = std::vector<std::int32_t>;

constexpr std::uint64_t kTail = 0x0100000000000000, kFire = 0x0200000000000000,
                        kSibling = 0x0300000000000000;
constexpr std::uint64_t kItself = 1; ///< for launch_graphs: the graph in which it is
constexpr std::uint64_t kInvalid = 1, kNotSupported = 801;

class DeviceGraphTest : public DriverTest {
  protected:
    void SetUp() override {
        DriverTest::SetUp();
        list_ = allocate(4096);
        ASSERT_EQ(cuMemsetD32(list_, 0, 1024), CUDA_SUCCESS);
    }

    struct Call {
        CUgraphExec graph;
        std::uint64_t stream;
    };

    static CUgraph new_graph() {
        CUgraph graph = nullptr;
        EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
        return graph;
    }

    CUgraphNode add_kernel(CUgraph graph, const char *name, void **arguments,
                           std::vector<CUgraphNode> after = {}) {
        CUDA_KERNEL_NODE_PARAMS params{};
        params.func = function(name);
        params.gridDimX = params.gridDimY = params.gridDimZ = 1;
        params.blockDimX = params.blockDimY = params.blockDimZ = 1;
        params.kernelParams = arguments;
        CUgraphNode node = nullptr;
        EXPECT_EQ(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &params),
                  CUDA_SUCCESS);
        return node;
    }

    CUgraphNode append(CUgraph graph, int value, std::vector<CUgraphNode> after = {}) {
        void *arguments[] = {&list_, &value};
        return add_kernel(graph, "append", arguments, std::move(after));
    }

    /// A node that appends `value` and makes the calls. The results are in `results` after the run.
    CUgraphNode launcher(CUgraph graph, int value, const std::vector<Call> &calls,
                         CUdeviceptr *results = nullptr) {
        std::vector<std::uint64_t> words;
        for (const Call &call : calls) {
            words.push_back(reinterpret_cast<std::uint64_t>(call.graph));
            words.push_back(call.stream);
        }
        CUdeviceptr memory = allocate(words.size() * 8 + 8);
        EXPECT_EQ(cuMemcpyHtoD(memory, words.data(), words.size() * 8), CUDA_SUCCESS);
        int count = static_cast<int>(calls.size());
        void *arguments[] = {&list_, &value, &count, &memory};
        if (results)
            *results = memory;
        return add_kernel(graph, "launch_graphs", arguments);
    }

    static std::vector<std::uint64_t> read_results(CUdeviceptr memory, std::size_t count) {
        std::vector<std::uint64_t> words(2 * count), results;
        EXPECT_EQ(cuMemcpyDtoH(words.data(), memory, words.size() * 8), CUDA_SUCCESS);
        for (std::size_t i = 0; i < count; i++)
            results.push_back(words[2 * i]);
        return results;
    }

    enum class Upload { Yes, No };
    static CUgraphExec device_graph(CUgraph graph, Upload upload = Upload::Yes) {
        CUDA_GRAPH_INSTANTIATE_PARAMS params{};
        params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
        if (upload == Upload::Yes)
            params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
        CUgraphExec exec = nullptr;
        EXPECT_EQ(cuGraphInstantiateWithParams(&exec, graph, &params), CUDA_SUCCESS);
        EXPECT_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
        return exec;
    }

    CUgraphExec appender(int value) {
        CUgraph graph = new_graph();
        append(graph, value);
        return device_graph(graph);
    }

    /// Launches a graph of a launcher and, after it, an append of 200; returns the results.
    std::vector<std::uint64_t> launch_by_kernel(const std::vector<Call> &calls) {
        CUgraph graph = new_graph();
        CUdeviceptr results = 0;
        CUgraphNode first = launcher(graph, 100, calls, &results);
        append(graph, 200, {first});
        CUgraphExec exec = nullptr;
        EXPECT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuMemsetD32(list_, 0, 1024), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        return read_results(results, calls.size());
    }

    List appended() {
        List words = read_words(list_, 1024);
        words.resize(static_cast<std::size_t>(words[0]) + 1);
        return {words.begin() + 1, words.end()};
    }

    CUdeviceptr list_ = 0;
};

using Results = std::vector<std::uint64_t>;

TEST_F(DeviceGraphTest, TailLaunchesRunOneByOneAfterTheirGraph) {
    EXPECT_EQ(launch_by_kernel({{appender(1), kTail}, {appender(2), kTail}}), (Results{0, 0}));
    EXPECT_EQ(appended(), (List{100, 200, 1, 2}));
}

TEST_F(DeviceGraphTest, TailLaunchesOfATailLaunchRunBeforeTheNextOne) {
    CUgraph inner = new_graph();
    launcher(inner, 50, {{appender(3), kTail}, {appender(4), kTail}});
    EXPECT_EQ(launch_by_kernel({{device_graph(inner), kTail}, {appender(2), kTail}}),
              (Results{0, 0}));
    EXPECT_EQ(appended(), (List{100, 200, 50, 3, 4, 2}));
}

TEST_F(DeviceGraphTest, AGraphIsCompleteWhenItsChildrenAre) {
    CUgraph inner = new_graph();
    launcher(inner, 50, {{appender(3), kFire}});
    EXPECT_EQ(launch_by_kernel({{device_graph(inner), kTail}, {appender(2), kTail}}),
              (Results{0, 0}));
    EXPECT_EQ(appended(), (List{100, 200, 50, 3, 2}));
}

TEST_F(DeviceGraphTest, LaterWorkOfTheStreamWaitsForAllLaunches) {
    for (const std::uint64_t stream : {kTail, kFire, kSibling}) {
        CUgraph inner = new_graph();
        launcher(inner, 1, {{appender(2), kSibling}, {appender(3), kTail}});
        CUgraph outer = new_graph();
        launcher(outer, 0, {{device_graph(inner), stream}});
        CUgraphExec exec = nullptr;
        ASSERT_EQ(cuGraphInstantiate(&exec, outer, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuMemsetD32(list_, 0, 1024), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
        ASSERT_EQ(launch("append", 1, 1, nullptr, list_, 9), CUDA_SUCCESS);
        ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        const List list = appended();
        ASSERT_EQ(list.size(), 5U) << stream;
        EXPECT_EQ(list.back(), 9) << stream;
    }
}

TEST_F(DeviceGraphTest, AGraphLaunchesItself) {
    // Each launch uses its call once: afterwards the call's graph is its result, 0, which is
    // refused.
    CUgraph graph = new_graph();
    CUdeviceptr results = 0;
    launcher(graph, 7, {{reinterpret_cast<CUgraphExec>(kItself), kTail}}, &results);
    CUgraphExec exec = device_graph(graph);
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(appended(), (List{7, 7}));
    EXPECT_EQ(read_results(results, 1), (Results{kInvalid}));
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS) << "1 is the graph itself";
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(appended(), (List{7, 7, 7, 7}));
}

TEST_F(DeviceGraphTest, AGraphThatRunsOrWaitsIsNotLaunchedAgain) {
    CUgraphExec one = appender(1);
    EXPECT_EQ(launch_by_kernel({{one, kFire}, {one, kFire}}), (Results{0, kInvalid}));
    EXPECT_EQ(launch_by_kernel({{one, kTail}, {one, kTail}}), (Results{0, kInvalid}));
    EXPECT_EQ(appended(), (List{100, 200, 1}));
    EXPECT_EQ(launch_by_kernel({{one, kFire}}), (Results{0})) << "it is over";
}

TEST_F(DeviceGraphTest, LimitsAre120ChildrenAnd255TailLaunches) {
    std::vector<Call> calls;
    for (int i = 0; i < 260; i++)
        calls.push_back({appender(i), 0});
    for (const auto &[stream, most] : {std::pair{kFire, 120}, {kSibling, 120}, {kTail, 255}}) {
        for (Call &call : calls)
            call.stream = stream;
        Results expected(260, kInvalid);
        std::fill(expected.begin(), expected.begin() + most, 0);
        EXPECT_EQ(launch_by_kernel(calls), expected);
        EXPECT_EQ(appended().size(), static_cast<std::size_t>(most) + 2);
    }
}

TEST_F(DeviceGraphTest, WrongLaunchesAreTheCallersErrors) {
    CUgraph graph = new_graph();
    append(graph, 1);
    CUgraphExec not_uploaded = device_graph(graph, Upload::No), plain = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&plain, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(launch_by_kernel({{not_uploaded, kTail},
                                {plain, kTail},
                                {nullptr, kFire},
                                {appender(2), 0},
                                {appender(2), 3},
                                {appender(2), 0x0400000000000000}}),
              Results(6, kInvalid));
    EXPECT_EQ(appended(), (List{100, 200}));
    ASSERT_EQ(cuGraphUpload(not_uploaded, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(launch_by_kernel({{not_uploaded, kTail}}), (Results{0}));
    EXPECT_EQ(call(DeviceCall::GraphLaunch, not_uploaded, kTail), kNotSupported) << "in no graph";
    EXPECT_EQ(launch("launch_graphs", 1, 1, nullptr, list_, 0, 0, list_), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(DeviceGraphTest, NodesThatKernelsCannotLaunchAreRefused) {
    const auto refused = [](CUgraph graph, CUgraphNode node, CUgraphInstantiateResult result) {
        CUDA_GRAPH_INSTANTIATE_PARAMS params{};
        params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
        CUgraphExec exec = nullptr;
        EXPECT_EQ(cuGraphInstantiateWithParams(&exec, graph, &params), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(params.result_out, result);
        EXPECT_EQ(params.hErrNode_out, node);
    };
    constexpr auto kOperation = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
    refused(new_graph(), nullptr, CUDA_GRAPH_INSTANTIATE_ERROR);
    CUgraph graph = new_graph();
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 0), CUDA_SUCCESS);
    refused(graph, node, kOperation);
    const CUDA_HOST_NODE_PARAMS host = {[](void *) {}, nullptr};
    ASSERT_EQ(cuGraphAddHostNode(&node, graph = new_graph(), nullptr, 0, &host), CUDA_SUCCESS);
    refused(graph, node, kOperation);
    int depth = 1;
    void *arguments[] = {&list_, &depth};
    node = add_kernel(graph = new_graph(), "launch_itself", arguments);
    refused(graph, node, kOperation);

    std::vector<int> pageable(4);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = pageable.data();
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = list_;
    copy.WidthInBytes = 16;
    copy.Height = copy.Depth = 1;
    ASSERT_EQ(cuGraphAddMemcpyNode(&node, graph = new_graph(), nullptr, 0, &copy, nullptr),
              CUDA_SUCCESS);
    refused(graph, node, kOperation);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = list_ + 64;
    ASSERT_EQ(cuGraphAddMemcpyNode(&node, graph = new_graph(), nullptr, 0, &copy, nullptr),
              CUDA_SUCCESS);
    EXPECT_NE(device_graph(graph), nullptr);

    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&exec, graph,
                                 CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                     CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD),
              CUDA_ERROR_INVALID_VALUE)
        << "only with a stream";
}

// A kernel's launch holds the use of a graph that the kernel started, and may outlive the graph's
// run.
TEST(GraphUse, EndsAlthoughOthersHoldIt) {
    using softcuda::device::GraphUse;
    const auto graph = std::make_shared<softcuda::device::Graph>();
    const auto exec = std::make_shared<softcuda::device::GraphExec>(*graph, 0);
    const auto use = GraphUse::begin(exec, GraphUse::Kind::Runs, 0);
    ASSERT_NE(use, nullptr);
    EXPECT_EQ(GraphUse::begin(exec, GraphUse::Kind::Runs, 0), nullptr);
    use->end();
    EXPECT_NE(GraphUse::begin(exec, GraphUse::Kind::Runs, 0), nullptr);
}

/// Nodes that kernels change.
class UpdatableNodeTest : public DeviceGraphTest {
  protected:
    /// graph_: an append of 1 that kernels can change, then an append of 200.
    void make_graph() {
        graph_ = new_graph();
        node_ = append(graph_, 1);
        append(graph_, 200, {node_});
        CUkernelNodeAttrValue value{};
        value.deviceUpdatableKernelNode.deviceUpdatable = 1;
        ASSERT_EQ(cuGraphKernelNodeSetAttribute(
                      node_, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value),
                  CUDA_SUCCESS);
        handle_ = value.deviceUpdatableKernelNode.devNode;
        CUkernelNodeAttrValue same{};
        ASSERT_EQ(cuGraphKernelNodeGetAttribute(
                      node_, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &same),
                  CUDA_SUCCESS);
        EXPECT_EQ(same.deviceUpdatableKernelNode.devNode, handle_);
        EXPECT_EQ(same.deviceUpdatableKernelNode.deviceUpdatable, 1);
    }

    void instantiate() {
        ASSERT_EQ(cuGraphInstantiate(&exec_, graph_, 0), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphUpload(exec_, nullptr), CUDA_SUCCESS);
    }

    List run() {
        EXPECT_EQ(cuMemsetD32(list_, 0, 64), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphLaunch(exec_, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        return appended();
    }

    /// Device memory with a value.
    CUdeviceptr holding(int value) {
        const CUdeviceptr memory = allocate(64);
        EXPECT_EQ(cuMemcpyHtoD(memory, &value, 4), CUDA_SUCCESS);
        return memory;
    }

    CUgraph graph_ = nullptr;
    CUgraphNode node_ = nullptr;
    CUgraphExec exec_ = nullptr;
    CUgraphDeviceNode handle_ = nullptr;
};

TEST_F(UpdatableNodeTest, KernelsChangeArgumentsGridsAndWhetherANodeRuns) {
    make_graph();
    instantiate();
    EXPECT_EQ(run(), (List{1, 200}));
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetParam, handle_, 8, holding(41), 4), 0U);
    EXPECT_EQ(run(), (List{41, 200}));
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetEnabled, handle_, 0), 0U);
    EXPECT_EQ(run(), (List{200}));
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetEnabled, handle_, 1), 0U);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetGridDim, handle_, 2, 1, 2), 0U);
    EXPECT_EQ(run().size(), 5U) << "four blocks append";
}

TEST_F(UpdatableNodeTest, ChangesHoldForTheRunningGraph) {
    make_graph();
    const CUdeviceptr words = allocate(256), value = holding(77);
    const std::uint64_t given[] = {reinterpret_cast<std::uint64_t>(handle_), 8, value, 4};
    ASSERT_EQ(cuMemcpyHtoD(words, given, sizeof given), CUDA_SUCCESS);
    unsigned number = static_cast<unsigned>(DeviceCall::GraphKernelNodeSetParam);
    CUdeviceptr memory = words, result = words + 128;
    void *arguments[] = {&number, &memory, &result};
    CUgraphNode change = add_kernel(graph_, "call_runtime", arguments);
    ASSERT_EQ(cuGraphAddDependencies(graph_, &change, &node_, nullptr, 1), CUDA_SUCCESS);
    instantiate();
    EXPECT_EQ(run(), (List{77, 200}));
}

TEST_F(UpdatableNodeTest, SeveralUpdatesAreOneCall) {
    make_graph();
    instantiate();
    struct {
        std::uint64_t node;
        std::uint32_t field, padding;
        std::uint64_t data[3];
    } updates[2] = {{reinterpret_cast<std::uint64_t>(handle_), 3, 0, {1, 0, 0}},
                    {reinterpret_cast<std::uint64_t>(handle_), 2, 0, {holding(55), 8, 4}}};
    const CUdeviceptr memory = allocate(sizeof updates);
    ASSERT_EQ(cuMemcpyHtoD(memory, updates, sizeof updates), CUDA_SUCCESS);
    ASSERT_EQ(call(DeviceCall::GraphKernelNodeSetEnabled, handle_, 0), 0U);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeUpdatesApply, memory, 2), 0U);
    EXPECT_EQ(run(), (List{55, 200}));
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeUpdatesApply, 0, 0), kInvalid);
    updates[0].field = 9;
    ASSERT_EQ(cuMemcpyHtoD(memory, updates, sizeof updates), CUDA_SUCCESS);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeUpdatesApply, memory, 2), kInvalid);
}

TEST_F(UpdatableNodeTest, WrongChangesAreRefused) {
    make_graph();
    const CUdeviceptr value = holding(5);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetParam, handle_, 8, value, 4), kInvalid)
        << "not instantiated";
    ASSERT_EQ(cuGraphInstantiate(&exec_, graph_, 0), CUDA_SUCCESS);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetParam, handle_, 8, value, 4), kInvalid)
        << "not uploaded";
    ASSERT_EQ(cuGraphUpload(exec_, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetParam, handle_, 10, value, 4), kInvalid);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetParam, handle_, 8, value, ~std::uint64_t{0}),
              kInvalid);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetParam, handle_, ~std::uint64_t{0}, value, 1),
              kInvalid);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetParam, handle_, 8, value, 0), 0U);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetGridDim, handle_, 0, 1, 1), kInvalid);
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetEnabled, 0x1234, 1), kInvalid);
    EXPECT_EQ(run(), (List{1, 200}));
}

TEST_F(UpdatableNodeTest, AWildAddressOfAValueIsAnIllegalAddress) {
    make_graph();
    instantiate();
    const CUdeviceptr memory = allocate(256);
    const std::uint64_t words[] = {reinterpret_cast<std::uint64_t>(handle_), 8, 0x18, 4};
    ASSERT_EQ(cuMemcpyHtoD(memory, words, sizeof words), CUDA_SUCCESS);
    ASSERT_EQ(launch("call_runtime", 1, 1, nullptr,
                     static_cast<unsigned>(DeviceCall::GraphKernelNodeSetParam), memory,
                     memory + 128),
              CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(UpdatableNodeTest, TheClientChangesSuchANodeAsWell) {
    make_graph();
    instantiate();
    int value = 8;
    void *arguments[] = {&list_, &value};
    CUDA_KERNEL_NODE_PARAMS params{};
    ASSERT_EQ(cuGraphKernelNodeGetParams(node_, &params), CUDA_SUCCESS);
    params.kernelParams = arguments;
    EXPECT_EQ(cuGraphExecKernelNodeSetParams(exec_, node_, &params), CUDA_SUCCESS);
    EXPECT_EQ(run(), (List{8, 200}));
    EXPECT_EQ(cuGraphNodeSetEnabled(exec_, node_, 0), CUDA_SUCCESS);
    EXPECT_EQ(run(), (List{200}));
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetEnabled, handle_, 1), 0U);
    EXPECT_EQ(run(), (List{8, 200}));
}

TEST_F(UpdatableNodeTest, WhatWouldCopyOrRemoveTheNodeIsRefused) {
    make_graph();
    instantiate();
    CUgraphExec again = nullptr;
    CUgraph clone = nullptr;
    CUgraphNode child = nullptr;
    CUgraphExecUpdateResultInfo info{};
    CUkernelNodeAttrValue value{};
    EXPECT_EQ(cuGraphInstantiate(&again, graph_, 0), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphClone(&clone, graph_), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphAddChildGraphNode(&child, new_graph(), nullptr, 0, graph_),
              CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphExecUpdate(exec_, graph_, &info), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphDestroyNode(node_), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphKernelNodeSetAttribute(node_, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                                            &value),
              CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(run(), (List{1, 200}));
}

TEST_F(UpdatableNodeTest, ACapturedLaunchBecomesSuchANode) {
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
    attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int value = 1;
    void *arguments[] = {&list_, &value};
    EXPECT_EQ(cuLaunchKernelEx(&config, function("append"), arguments, nullptr),
              CUDA_ERROR_NOT_SUPPORTED)
        << "there is no node";
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    ASSERT_EQ(cuLaunchKernelEx(&config, function("append"), arguments, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamEndCapture(stream, &graph_), CUDA_SUCCESS);
    handle_ = attribute.value.deviceUpdatableKernelNode.devNode;
    instantiate();
    EXPECT_EQ(call(DeviceCall::GraphKernelNodeSetParam, handle_, 8, holding(6), 4), 0U);
    EXPECT_EQ(run(), (List{6}));
}

TEST_F(DeviceGraphTest, ALaunchIsBehindEarlierLaunchesOfTheSameGraph) {
    CUgraph graph = new_graph();
    int first = 1;
    void *arguments[] = {&list_, &first};
    CUgraphNode slow = add_kernel(graph, "append_slowly", arguments);
    append(graph, 2, {slow});
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    CUstream streams[4];
    for (CUstream &stream : streams) {
        ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    }
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(appended(), (List{1, 2, 1, 2, 1, 2, 1, 2}));
}

} // namespace
