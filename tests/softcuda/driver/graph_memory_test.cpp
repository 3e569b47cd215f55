// graph_memory_test.cpp -- resources of graphs: memory, user objects, attributes.
#include "driver_test.h"

#include <atomic>
#include <thread>

namespace {

class GraphMemoryTest : public DriverTest {
  protected:
    static CUDA_MEM_ALLOC_NODE_PARAMS wanted(std::size_t bytes) {
        CUDA_MEM_ALLOC_NODE_PARAMS params{};
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
        params.bytesize = bytes;
        return params;
    }

    void SetUp() override {
        DriverTest::SetUp();
        before_used_ = attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
        before_reserved_ = attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
    }

    /// The bytes since the test began: graphs that other tests left still hold theirs.
    cuuint64_t used() const { return attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) - before_used_; }
    cuuint64_t reserved() const {
        return attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) - before_reserved_;
    }

    static cuuint64_t attribute(CUgraphMem_attribute which) {
        cuuint64_t value = 99;
        EXPECT_EQ(cuDeviceGetGraphMemAttribute(0, which, &value), CUDA_SUCCESS);
        return value;
    }

    /// Gives the graph an object whose destruction is counted.
    static void retain(CUgraph graph, int &destroyed) {
        const CUhostFn count = [](void *counter) { ++*static_cast<int *>(counter); };
        CUuserObject object = nullptr;
        ASSERT_EQ(
            cuUserObjectCreate(&object, &destroyed, count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
        ASSERT_EQ(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
                  CUDA_SUCCESS);
    }

    static CUresult add_child(CUgraph parent, CUgraph child,
                              CUgraphChildGraphNodeOwnership ownership, CUgraphNode *node,
                              const CUgraphNode *after = nullptr) {
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_GRAPH;
        params.graph = {child, ownership};
        return cuGraphAddNode(node, parent, after, nullptr, after ? 1 : 0, &params);
    }

    static CUgraph new_graph() {
        CUgraph graph = nullptr;
        EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
        return graph;
    }

  private:
    cuuint64_t before_used_ = 0, before_reserved_ = 0;
};

TEST_F(GraphMemoryTest, AnAllocationIsCaptured) {
    const CUdeviceptr out = allocate(64), other = allocate(64);
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
    CUdeviceptr scratch = 0;
    ASSERT_EQ(cuMemAllocAsync(&scratch, 64, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD32Async(scratch, 6, 16, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoDAsync(out, scratch, 64, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuMemFreeAsync(scratch, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeAsync(other, stream), CUDA_ERROR_INVALID_VALUE); // not memory of the graph
    CUgraph graph = nullptr;
    ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    std::size_t count = 0;
    ASSERT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
    EXPECT_EQ(count, 4U);
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++) {
        ASSERT_EQ(cuMemsetD32Async(out, 0, 16, stream), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
        ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        EXPECT_EQ(read_words(out, 16), std::vector<std::int32_t>(16, 6));
    }
    EXPECT_EQ(used(), 0U);
    EXPECT_EQ(reserved(), 64U);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(reserved(), 0U);
    EXPECT_EQ(cuMemcpyDtoH(&count, scratch, 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphMemoryTest, MemoryExistsAfterItsGraphUntilItIsFreed) {
    CUgraph graph = new_graph();
    CUDA_MEM_ALLOC_NODE_PARAMS params = wanted(400), found{};
    CUgraphNode node = nullptr, fill = nullptr;
    ASSERT_EQ(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
    ASSERT_NE(params.dptr, 0U);
    ASSERT_EQ(cuGraphMemAllocNodeGetParams(node, &found), CUDA_SUCCESS);
    EXPECT_EQ(found.dptr, params.dptr);
    EXPECT_EQ(found.bytesize, 400U);
    CUDA_MEMSET_NODE_PARAMS memset{};
    memset.dst = params.dptr;
    memset.value = 3;
    memset.elementSize = 4;
    memset.width = 100;
    memset.height = 1;
    ASSERT_EQ(cuGraphAddMemsetNode(&fill, graph, &node, 1, &memset, context_), CUDA_SUCCESS);
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(params.dptr), CUDA_ERROR_INVALID_VALUE); // not in use yet
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(used(), 400U);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    EXPECT_EQ(read_words(params.dptr + 396, 1)[0], 3);
    EXPECT_EQ(cuMemFree(params.dptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(params.dptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(used() + reserved(), 0U);
}

TEST_F(GraphMemoryTest, ANodeFreesMemoryOfAnotherNode) {
    CUgraph graph = new_graph();
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    params.alloc.poolProps = wanted(0).poolProps;
    params.alloc.bytesize = 128;
    CUgraphNode node = nullptr, end = nullptr;
    ASSERT_EQ(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddMemFreeNode(&end, graph, &node, 1, params.alloc.dptr), CUDA_SUCCESS);
    CUdeviceptr address = 0;
    ASSERT_EQ(cuGraphMemFreeNodeGetParams(end, &address), CUDA_SUCCESS);
    EXPECT_EQ(address, params.alloc.dptr);
    CUgraphNodeType type{};
    ASSERT_EQ(cuGraphNodeGetType(end, &type), CUDA_SUCCESS);
    EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEM_FREE);
    EXPECT_EQ(cuGraphAddMemFreeNode(&end, graph, &node, 1, allocate(4)), CUDA_ERROR_INVALID_VALUE);
    params.alloc.bytesize = 0;
    EXPECT_EQ(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(GraphMemoryTest, MemoryIsFreedBeforeTheGraphAllocatesAgain) {
    CUgraph graph = new_graph();
    CUDA_MEM_ALLOC_NODE_PARAMS params = wanted(64);
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeAsync(params.dptr, nullptr), CUDA_ERROR_INVALID_VALUE); // not allocated yet
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(cuMemFreeAsync(params.dptr, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFreeAsync(params.dptr, nullptr), CUDA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH),
              CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(params.dptr), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    EXPECT_EQ(used() + reserved(), 0U);
}

TEST_F(GraphMemoryTest, AnotherGraphFreesMemoryAtEachLaunch) {
    CUgraph graphs[2] = {new_graph(), new_graph()};
    CUDA_MEM_ALLOC_NODE_PARAMS params = wanted(64);
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddMemAllocNode(&node, graphs[0], nullptr, 0, &params), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddMemFreeNode(&node, graphs[1], nullptr, 0, params.dptr), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphAddMemFreeNode(&node, graphs[1], nullptr, 0, params.dptr),
              CUDA_ERROR_INVALID_VALUE); // freed twice in one graph
    CUgraphExec execs[2]{};
    for (int i = 0; i < 2; i++)
        ASSERT_EQ(cuGraphInstantiate(&execs[i], graphs[i], 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(execs[1], nullptr), CUDA_ERROR_INVALID_VALUE) << "not allocated yet";
    for (int i = 0; i < 3; i++)
        for (CUgraphExec exec : execs)
            EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(execs[1], nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree(params.dptr), CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(cuGraphExecDestroy(execs[i]), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphDestroy(graphs[i]), CUDA_SUCCESS);
    }
    EXPECT_EQ(used() + reserved(), 0U);
}

// The results in the next tests were recorded on an H200.
TEST_F(GraphMemoryTest, AMovedChildBelongsToItsNode) {
    CUgraph child = new_graph(), parent = new_graph(), other = new_graph();
    CUDA_MEM_ALLOC_NODE_PARAMS params = wanted(64);
    CUgraphNode node = nullptr, inner = nullptr;
    ASSERT_EQ(cuGraphAddMemAllocNode(&inner, child, nullptr, 0, &params), CUDA_SUCCESS);
    EXPECT_EQ(add_child(parent, child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, &node),
              CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(add_child(child, child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE, &node),
              CUDA_ERROR_INVALID_VALUE);
    CUgraphNode wrong = inner; // a dependency of another graph: the child remains the client's
    EXPECT_EQ(add_child(parent, child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE, &node, &wrong),
              CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(add_child(parent, child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE, &node), CUDA_SUCCESS);
    CUgraph found = nullptr;
    EXPECT_EQ(cuGraphChildGraphNodeGetGraph(node, &found), CUDA_SUCCESS);
    EXPECT_EQ(found, child);
    for (const auto ownership :
         {CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE})
        EXPECT_EQ(add_child(other, child, ownership, &wrong), CUDA_ERROR_NOT_SUPPORTED);
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&exec, child, 0), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphDestroy(child), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphAddMemAllocNode(&wrong, child, nullptr, 0, &params), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphAddEmptyNode(&wrong, child, nullptr, 0), CUDA_SUCCESS);
    EXPECT_EQ(add_child(other, parent, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, &wrong),
              CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(add_child(child, parent, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE, &wrong),
              CUDA_ERROR_INVALID_VALUE); // an H200 accepts it
    EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
    std::size_t count = 0;
    EXPECT_EQ(cuGraphGetNodes(child, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphDestroy(other), CUDA_SUCCESS);
}

TEST_F(GraphMemoryTest, ACloneBelongsToItsNode) {
    CUgraph child = new_graph(), parent = new_graph(), clone = nullptr;
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, child), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphChildGraphNodeGetGraph(node, &clone), CUDA_SUCCESS);
    EXPECT_NE(clone, child);
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiate(&exec, clone, 0), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphAddChildGraphNode(&node, child, nullptr, 0, clone), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphDestroy(clone), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuGraphInstantiate(&exec, parent, 0), CUDA_SUCCESS);
    CUgraphExecUpdateResultInfo info{};
    EXPECT_EQ(cuGraphExecUpdate(exec, clone, &info), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(child), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
}

TEST_F(GraphMemoryTest, AMovedChildAllocatesAndItsParentFrees) {
    for (const bool parent_frees : {false, true}) {
        CUgraph child = new_graph(), parent = new_graph();
        CUDA_MEM_ALLOC_NODE_PARAMS params = wanted(64);
        CUgraphNode node = nullptr, end = nullptr;
        ASSERT_EQ(cuGraphAddMemAllocNode(&node, child, nullptr, 0, &params), CUDA_SUCCESS);
        ASSERT_EQ(add_child(parent, child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE, &node),
                  CUDA_SUCCESS);
        if (parent_frees) {
            ASSERT_EQ(cuGraphAddMemFreeNode(&end, parent, &node, 1, params.dptr), CUDA_SUCCESS);
        }
        CUgraphExec exec = nullptr, second = nullptr;
        ASSERT_EQ(cuGraphInstantiate(&exec, parent, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphInstantiate(&second, parent, 0), CUDA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphLaunch(exec, nullptr),
                  parent_frees ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
        EXPECT_EQ(used(), parent_frees ? 0U : 64U);
        EXPECT_EQ(cuMemFree(params.dptr), parent_frees ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
        EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphInstantiate(&exec, parent, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
        EXPECT_EQ(used() + reserved(), 0U);
    }
}

TEST_F(GraphMemoryTest, AnObjectExistsAsLongAsGraphsUseIt) {
    int destroyed = 0;
    const CUhostFn count = [](void *counter) { ++*static_cast<int *>(counter); };
    CUuserObject object = nullptr;
    EXPECT_EQ(cuUserObjectCreate(&object, &destroyed, count, 1, 0), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuUserObjectCreate(&object, &destroyed, count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_SUCCESS);
    CUgraph graph = new_graph();
    ASSERT_EQ(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphRetainUserObject(graph, object, 2, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 3), CUDA_ERROR_INVALID_VALUE);
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    EXPECT_EQ(destroyed, 0);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(destroyed, 1);
    EXPECT_EQ(cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphMemoryTest, AnUpdateReplacesTheObjectsOfTheExecutableGraph) {
    int counts[2] = {};
    CUgraph graphs[2] = {new_graph(), new_graph()};
    for (int i = 0; i < 2; i++)
        retain(graphs[i], counts[i]);
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&exec, graphs[0], 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graphs[0]), CUDA_SUCCESS);
    CUgraphExecUpdateResultInfo info{};
    ASSERT_EQ(cuGraphExecUpdate(exec, graphs[1], &info), CUDA_SUCCESS);
    EXPECT_EQ(counts[0], 1);
    EXPECT_EQ(cuGraphDestroy(graphs[1]), CUDA_SUCCESS);
    EXPECT_EQ(counts[1], 0);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(counts[1], 1);
}

TEST_F(GraphMemoryTest, ALaunchHoldsTheObjectsUntilItsEnd) {
    struct Shared {
        std::atomic<bool> may_end{false};
        int destroyed = 0, seen = -1;
    } shared;
    CUgraph graph = new_graph();
    retain(graph, shared.destroyed);
    CUDA_HOST_NODE_PARAMS host{.fn =
                                   [](void *data) {
                                       auto &known = *static_cast<Shared *>(data);
                                       while (!known.may_end)
                                           std::this_thread::yield();
                                       known.seen = known.destroyed;
                                   },
                               .userData = &shared};
    CUgraphNode node = nullptr;
    ASSERT_EQ(cuGraphAddHostNode(&node, graph, nullptr, 0, &host), CUDA_SUCCESS);
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    shared.may_end = true;
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(shared.seen, 0);
    EXPECT_EQ(shared.destroyed, 1);
}

TEST_F(GraphMemoryTest, GraphsWithMemoryKeepTheirNodesAndEdges) {
    CUgraph graph = new_graph(), clone = nullptr;
    CUDA_MEM_ALLOC_NODE_PARAMS params = wanted(64);
    CUgraphNode alloc = nullptr, end = nullptr;
    ASSERT_EQ(cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddEmptyNode(&end, graph, &alloc, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroyNode(end), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphRemoveDependencies(graph, &alloc, &end, nullptr, 1), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
    CUgraph parent = new_graph();
    CUgraphNode child = nullptr;
    EXPECT_EQ(cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph),
              CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphDestroy(parent), CUDA_SUCCESS);
    std::size_t count = 0;
    EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(GraphMemoryTest, AttributesOfKernelNodes) {
    CUgraph graph = new_graph();
    CUdeviceptr list = allocate(64);
    int value = 1;
    void *arguments[] = {&list, &value};
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function("append");
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    CUgraphNode first = nullptr, second = nullptr, empty = nullptr;
    ASSERT_EQ(cuGraphAddKernelNode(&first, graph, nullptr, 0, &params), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddKernelNode(&second, graph, nullptr, 0, &params), CUDA_SUCCESS);
    CUkernelNodeAttrValue attribute{};
    attribute.priority = -2;
    ASSERT_EQ(cuGraphKernelNodeSetAttribute(first, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute),
              CUDA_SUCCESS);
    ASSERT_EQ(cuGraphKernelNodeCopyAttributes(second, first), CUDA_SUCCESS);
    attribute.priority = 0;
    ASSERT_EQ(cuGraphKernelNodeGetAttribute(second, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute),
              CUDA_SUCCESS);
    EXPECT_EQ(attribute.priority, -2);
    ASSERT_EQ(cuGraphKernelNodeGetAttribute(second, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &attribute),
              CUDA_SUCCESS);
    EXPECT_EQ(attribute.cooperative, 0);
    ASSERT_EQ(cuGraphAddEmptyNode(&empty, graph, nullptr, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphKernelNodeGetAttribute(empty, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

} // namespace
