// graph.cpp -- work that is recorded once and launched many times.
#include <pycuda/graph.h>

#include "context/graph_checks.h"
#include "context/graph_objects.h"
#include "launch/launch_shape.h"

#include <pycuda/driver.h>
#include <pycuda/pending_work.h>

namespace pycuda {

CUresult detail::destroy_graph(CUgraph graph) {
    const CUresult result = driver().cuGraphDestroy.status(graph);
    release_objects_of_ended_graphs();
    return result;
}

CUresult detail::destroy_executable_graph(CUgraphExec graph) {
    const CUresult result = driver().cuGraphExecDestroy.status(graph);
    release_objects_of_ended_graphs();
    return result;
}

namespace {

CUgraph create_graph() { return driver().cuGraphCreate.value(0); }

CUgraphExec instantiate(const Graph &graph) {
    return driver().cuGraphInstantiateWithFlags.value(graph.get(), 0);
}

class KernelNode {
  public:
    KernelNode(const Function &function, const LaunchConfig &config, void *arguments,
               std::size_t size)
        : size_(size), extra_{CU_LAUNCH_PARAM_BUFFER_POINTER, arguments,
                              CU_LAUNCH_PARAM_BUFFER_SIZE, &size_, CU_LAUNCH_PARAM_END} {
        what_.func = function.require();
        detail::set_launch_shape(what_, config);
        what_.extra = extra_;
    }
    KernelNode &operator=(KernelNode &&) = delete; // no copies either

    const CUDA_KERNEL_NODE_PARAMS *get() const { return &what_; }

  private:
    std::size_t size_;
    void *extra_[5];
    CUDA_KERNEL_NODE_PARAMS what_{};
};

} // namespace

Graph::Graph() : Graph(Owner::adopt(create_graph(), Context::require_current())) {}

Graph Graph::adopt(CUgraph handle, Context context) {
    return Graph(Owner::adopt(handle, std::move(context)));
}

CUgraph Graph::get() const {
    if (closed())
        throw Error("graph", CUDA_ERROR_INVALID_HANDLE, "the graph was closed before");
    return handle_.live("graph");
}

std::size_t Graph::node_count() const {
    std::size_t count = 0;
    driver().cuGraphGetNodes(get(), nullptr, &count);
    return count;
}

Graph Graph::clone() const {
    const CUgraph copy = driver().cuGraphClone.value(get());
    return Graph(Owner::adopt(copy, context()), checks_);
}

CUgraphNode Graph::add_empty(const std::vector<CUgraphNode> &dependencies) {
    return driver().cuGraphAddEmptyNode.value(get(), dependencies.data(), dependencies.size());
}

CUgraphNode Graph::add_kernel(const std::vector<CUgraphNode> &dependencies,
                              const Function &function, const LaunchConfig &config, void *arguments,
                              std::size_t size) {
    const KernelNode what(function, config, arguments, size);
    CUgraphNode node = nullptr;
    check(driver().cuGraphAddKernelNode.status(&node, get(), dependencies.data(),
                                               dependencies.size(), what.get()),
          "cuGraphAddKernelNode", [&] { return "kernel '" + function.name() + "'"; });
    return node;
}

CUgraphNode Graph::add_copy(const std::vector<CUgraphNode> &dependencies,
                            const CUDA_MEMCPY3D &what) {
    return driver().cuGraphAddMemcpyNode.value(get(), dependencies.data(), dependencies.size(),
                                               &what, context().get());
}

CUgraphNode Graph::add_fill(const std::vector<CUgraphNode> &dependencies,
                            const CUDA_MEMSET_NODE_PARAMS &what) {
    return driver().cuGraphAddMemsetNode.value(get(), dependencies.data(), dependencies.size(),
                                               &what, context().get());
}

Graph::Conditional Graph::add_conditional(const std::vector<CUgraphNode> &dependencies,
                                          CUgraphConditionalNodeType kind, unsigned bodies,
                                          unsigned value) {
    Conditional added{};
    driver().cuGraphConditionalHandleCreate(&added.handle, get(), context().get(), value,
                                            CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNodeParams what{};
    what.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    what.conditional.handle = added.handle;
    what.conditional.type = kind;
    what.conditional.size = bodies;
    what.conditional.ctx = context().get();
    driver().cuGraphAddNode(&added.node, get(), dependencies.data(), nullptr, dependencies.size(),
                            &what);
    for (unsigned body = 0; body < bodies; ++body)
        added.bodies.push_back(Graph(Owner::borrow(what.conditional.phGraph_out[body], context())));
    return added;
}

void Graph::write_dot(const std::string &path) const {
    driver().cuGraphDebugDotPrint(get(), path.c_str(), 0);
}

ExecutableGraph::ExecutableGraph(const Graph &graph)
    : handle_(Handle<CUgraphExec, detail::destroy_executable_graph>::adopt(instantiate(graph),
                                                                           graph.context())),
      checks_(graph.checks_) {}

CUgraphExec ExecutableGraph::get() const {
    if (closed())
        throw Error("graph", CUDA_ERROR_INVALID_HANDLE, "the executable graph was closed before");
    return handle_.live("executable graph");
}

void ExecutableGraph::launch(StreamRef stream) const {
    if (checks_ != nullptr)
        checks_->report();
    driver().cuGraphLaunch(get(), stream.get());
    detail::note_launch();
    if (checks_ != nullptr)
        checks_->launched(stream);
}

void ExecutableGraph::upload(StreamRef stream) const {
    driver().cuGraphUpload(get(), stream.get());
}

void ExecutableGraph::update(const Graph &graph) {
    CUgraphExecUpdateResultInfo info{};
    check(driver().cuGraphExecUpdate.status(get(), graph.get(), &info), "cuGraphExecUpdate", [&] {
        return "the graph differs in more than its arguments (reason " +
               std::to_string(static_cast<int>(info.result)) + ")";
    });
    checks_ = graph.checks_;
}

void ExecutableGraph::update_kernel(CUgraphNode node, const Function &function,
                                    const LaunchConfig &config, void *arguments, std::size_t size) {
    const KernelNode what(function, config, arguments, size);
    check(driver().cuGraphExecKernelNodeSetParams.status(get(), node, what.get()),
          "cuGraphExecKernelNodeSetParams", [&] { return "kernel '" + function.name() + "'"; });
}

void ExecutableGraph::update_copy(CUgraphNode node, const CUDA_MEMCPY3D &what) {
    driver().cuGraphExecMemcpyNodeSetParams(get(), node, &what, context().get());
}

void ExecutableGraph::update_fill(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS &what) {
    driver().cuGraphExecMemsetNodeSetParams(get(), node, &what, context().get());
}

void begin_capture(const Stream &stream, CUstreamCaptureMode mode) {
    driver().cuStreamBeginCapture(stream.require(), mode);
}

Graph end_capture(const Stream &stream) {
    CUgraph graph = nullptr;
    std::shared_ptr<detail::GraphChecks> checks = detail::GraphChecks::find(stream);
    driver().cuStreamEndCapture(stream.require(), &graph);
    return Graph(Graph::Owner::adopt(graph, stream.context()), std::move(checks));
}

bool is_capturing(const Stream &stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    driver().cuStreamIsCapturing(stream.require(), &status);
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

} // namespace pycuda
