// graph.cpp -- pycuda.driver.Graph: work that is recorded once and launched many times.
#include "support/bindings.h"

#include "arrays/array_scope.h"
#include "launch/bound_launch.h"
#include "memory/device_pointer.h"
#include "objects/node_uses.h"
#include "support/heap_type.h"
#include "support/python_object.h"
#include "support/with_block.h"

#include <pycuda/graph.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pycuda::python {
namespace {

/// A graph of Python. The driver's nodes and the bodies of conditional nodes end with their graph.
struct PythonGraph : Graph {
    PythonGraph() = default;
    PythonGraph(Graph graph, NodeUses uses = {})
        : Graph(std::move(graph)), nodes(std::move(uses)) {}
    PythonGraph(PythonGraph &&) = default;
    ~PythonGraph() { end(); }

    void end() {
        if (owner.is_valid() || ended == nullptr) // a body, or moved
            return;
        *ended = true;
    }

    std::shared_ptr<bool> ended = std::make_shared<bool>(false); ///< of the root
    NodeUses nodes;   ///< of this graph and its bodies; of a body, empty
    nb::object owner; ///< of a body: the graph that owns it
};

/// The graph of an object, closed if its root has ended.
PythonGraph &graph_of(nb::handle self) {
    auto &graph = nb::cast<PythonGraph &>(self);
    if (*graph.ended)
        graph.close();
    return graph;
}

NodeUses &uses_of(PythonGraph &graph) {
    return graph.owner.is_valid() ? nb::cast<PythonGraph &>(graph.owner).nodes : graph.nodes;
}

void close_graph(nb::handle self) {
    PythonGraph &graph = graph_of(self);
    graph.close();
    graph.end();
    graph.nodes.clear();
}

/// A node of a graph, valid as long as the graph.
struct Node {
    CUgraphNode handle;
    std::shared_ptr<bool> ended;

    /// Throws Error after the end of the graph: the driver would read freed memory.
    CUgraphNode get() const {
        if (*ended)
            throw Error("graph", CUDA_ERROR_INVALID_HANDLE,
                        "the graph of the node has ended or was closed");
        return handle;
    }
};

std::vector<CUgraphNode> handles_of(const std::vector<Node> &nodes) {
    std::vector<CUgraphNode> handles;
    for (const Node &node : nodes)
        handles.push_back(node.get());
    return handles;
}

Node add_kernel(nb::handle self, nb::handle launch, const std::vector<Node> &dependencies) {
    PythonGraph &graph = graph_of(self);
    const BoundCall call = bound_call_of(launch);
    NodeUse use = use_of_launch(launch, call);
    const CUgraphNode node = graph.add_kernel(handles_of(dependencies), *call.function,
                                              *call.config, call.arguments, call.size);
    uses_of(graph).set(node, std::move(use));
    return {node, graph.ended};
}

CUDA_MEMCPY3D copy_of(nb::handle dest, nb::handle src, std::size_t size) {
    CUDA_MEMCPY3D what{};
    what.srcMemoryType = what.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    what.dstDevice = device_address(dest, "dest", Access::Write);
    what.srcDevice = device_address(src, "src");
    what.WidthInBytes = size;
    what.Height = what.Depth = 1;
    return what;
}

Node add_copy(nb::handle self, nb::handle dest, nb::handle src, std::size_t size,
              const std::vector<Node> &dependencies) {
    PythonGraph &graph = graph_of(self);
    NodeUse use = use_of_memory({dest, src});
    const CUgraphNode node = graph.add_copy(handles_of(dependencies), copy_of(dest, src, size));
    uses_of(graph).set(node, std::move(use));
    return {node, graph.ended};
}

CUDA_MEMSET_NODE_PARAMS fill_of(nb::handle dest, unsigned value, std::size_t count,
                                unsigned element_size) {
    CUDA_MEMSET_NODE_PARAMS what{};
    what.dst = device_address(dest, "dest", Access::Write);
    what.value = value;
    what.elementSize = element_size;
    what.width = count;
    what.height = 1;
    return what;
}

Node add_fill(nb::handle self, nb::handle dest, unsigned value, std::size_t count,
              unsigned element_size, const std::vector<Node> &dependencies) {
    PythonGraph &graph = graph_of(self);
    NodeUse use = use_of_memory({dest});
    const CUgraphNode node =
        graph.add_fill(handles_of(dependencies), fill_of(dest, value, count, element_size));
    uses_of(graph).set(node, std::move(use));
    return {node, graph.ended};
}

Node add_empty(nb::handle self, const std::vector<Node> &dependencies) {
    PythonGraph &graph = graph_of(self);
    return {graph.add_empty(handles_of(dependencies)), graph.ended};
}

/// A conditional node with the graphs that it runs.
struct ConditionalNode : Node {
    CUgraphConditionalHandle condition;
    nb::tuple bodies;
};

struct ConditionalKind {
    const char *name;
    CUgraphConditionalNodeType type;
    unsigned fewest_bodies, most_bodies;
};
constexpr ConditionalKind conditional_kinds[] = {{"if", CU_GRAPH_COND_TYPE_IF, 1, 2},
                                                 {"while", CU_GRAPH_COND_TYPE_WHILE, 1, 1},
                                                 {"switch", CU_GRAPH_COND_TYPE_SWITCH, 1, ~0U}};

ConditionalNode add_conditional(nb::handle self, std::string_view kind, unsigned bodies,
                                unsigned value, const std::vector<Node> &dependencies) {
    const auto *found = std::ranges::find(conditional_kinds, kind, &ConditionalKind::name);
    if (found == std::end(conditional_kinds))
        throw_value_error("kind must be \"if\", \"while\" or \"switch\", not \"" +
                          std::string(kind) + "\"");
    if (bodies < found->fewest_bodies || bodies > found->most_bodies)
        throw_value_error("a conditional node of kind \"" + std::string(kind) + "\" cannot have " +
                          std::to_string(bodies) + " bodies");
    PythonGraph &graph = graph_of(self);
    Graph::Conditional added =
        graph.add_conditional(handles_of(dependencies), found->type, bodies, value);
    nb::list graphs;
    for (Graph &added_body : added.bodies) {
        PythonGraph body(std::move(added_body));
        body.ended = graph.ended;
        body.owner = graph.owner.is_valid() ? graph.owner : nb::borrow(self);
        graphs.append(nb::cast(std::move(body)));
    }
    return {{added.node, graph.ended}, added.handle, nb::tuple(graphs)};
}

PythonGraph clone_of(nb::handle self) {
    PythonGraph &graph = graph_of(self);
    return {graph.clone(), uses_of(graph)};
}

struct PythonExecutable : ExecutableGraph {
    explicit PythonExecutable(nb::handle source)
        : ExecutableGraph(graph_of(source)), nodes(uses_of(graph_of(source))),
          owner(nb::borrow(source)) {}

    void let_go() {
        nodes.clear();
        const nb::object graph = std::move(owner);
    }

    NodeUses nodes;
    nb::object owner; ///< the graph whose nodes update_kernel() and its like take
};

void launch_graph(nb::handle self, nb::handle stream) {
    const auto &graph = nb::cast<const PythonExecutable &>(self);
    WorkContext context;
    context.add(graph.context());
    context.enter();
    const StreamRef where = stream_ref(stream);
    if (graph.nodes.empty()) // the driver's graph owns what a capture uses
        return graph.launch(where);
    Work work(where, graph.context());
    graph.nodes.begin(work);
    if (work.is_captured()) [[unlikely]]
        work.keep_in_graph(keep_alive(nb::borrow(self)));
    graph.launch(work.stream());
}

void update_graph(nb::handle self, nb::handle graph) {
    auto &executable = nb::cast<PythonExecutable &>(self);
    PythonGraph &source = graph_of(graph);
    executable.update(source);
    NodeUses uses = uses_of(source);
    std::swap(executable.nodes, uses);
}

void update_kernel(nb::handle self, const Node &node, nb::handle launch) {
    auto &executable = nb::cast<PythonExecutable &>(self);
    const BoundCall call = bound_call_of(launch);
    NodeUse use = use_of_launch(launch, call);
    executable.update_kernel(node.get(), *call.function, *call.config, call.arguments, call.size);
    executable.nodes.set(node.handle, std::move(use));
}

void update_copy(nb::handle self, const Node &node, nb::handle dest, nb::handle src,
                 std::size_t size) {
    auto &executable = nb::cast<PythonExecutable &>(self);
    NodeUse use = use_of_memory({dest, src});
    executable.update_copy(node.get(), copy_of(dest, src, size));
    executable.nodes.set(node.handle, std::move(use));
}

void update_fill(nb::handle self, const Node &node, nb::handle dest, unsigned value,
                 std::size_t count, unsigned element_size) {
    auto &executable = nb::cast<PythonExecutable &>(self);
    NodeUse use = use_of_memory({dest});
    executable.update_fill(node.get(), fill_of(dest, value, count, element_size));
    executable.nodes.set(node.handle, std::move(use));
}

void close_executable(nb::handle self) {
    auto &executable = nb::cast<PythonExecutable &>(self);
    executable.close();
    executable.let_go();
}

// Python's garbage collector follows the objects of the nodes.

template <class Object> int traverse(PyObject *self, visitproc visit, void *arg) noexcept {
    Py_VISIT(reinterpret_cast<PyObject *>(Py_TYPE(self)));
    if (!nb::inst_ready(self))
        return 0;
    const auto &graph = *nb::inst_ptr<Object>(self);
    Py_VISIT(graph.owner.ptr());
    return graph.nodes.traverse(visit, arg);
}

/// A body keeps its owner, with which it ends.
int clear_graph(PyObject *self) noexcept {
    nb::inst_ptr<PythonGraph>(self)->nodes.clear();
    return 0;
}

int clear_executable(PyObject *self) noexcept {
    nb::inst_ptr<PythonExecutable>(self)->let_go();
    return 0;
}

PyType_Slot graph_slots[] = {
    {Py_tp_traverse, slot(traverse<PythonGraph>)}, {Py_tp_clear, slot(clear_graph)}, {0, nullptr}};
PyType_Slot executable_slots[] = {{Py_tp_traverse, slot(traverse<PythonExecutable>)},
                                  {Py_tp_clear, slot(clear_executable)},
                                  {0, nullptr}};

std::string represent(nb::handle self) {
    const PythonGraph &graph = graph_of(self);
    return graph.closed() ? "<pycuda.driver.Graph, closed>"
                          : "<pycuda.driver.Graph of " + std::to_string(graph.node_count()) +
                                (graph.node_count() == 1 ? " node>" : " nodes>");
}

std::string represent_executable(const PythonExecutable &graph) {
    return graph.closed() ? "<pycuda.driver.ExecutableGraph, closed>"
                          : "<pycuda.driver.ExecutableGraph>";
}

void start_capture(const Stream &stream, int mode) {
    begin_capture(stream, CUstreamCaptureMode(mode));
}

} // namespace

void bind_graph(nb::module_ &module) {
    nb::class_<Node>(
        module, "GraphNode",
        "A node of a Graph: one kernel launch, copy or fill. add_kernel() and its like of "
        "Graph return nodes and take them as\n"
        "dependencies. A node is valid as long as its graph.");
    nb::class_<ConditionalNode, Node>(
        module, "ConditionalNode",
        "A node of Graph.add_conditional(), which runs graphs of its own.\n\n"
        "A kernel changes the node's value by ``cudaGraphSetConditional(handle, value)``. Pass the "
        "kernel\n"
        "``np.uint64(node.condition)`` as its ``cudaGraphConditionalHandle``.")
        .def_prop_ro(
            "condition", [](const ConditionalNode &node) { return std::uint64_t{node.condition}; },
            "The cudaGraphConditionalHandle, as an int.")
        .def_ro("bodies", &ConditionalNode::bodies,
                "The node's graphs, which are empty at first. Add their nodes before "
                "Graph.instantiate().");
    const std::vector<Node> none;

    bind_with_block(
        nb::class_<PythonGraph>(
            module, "Graph", nb::type_slots(graph_slots), nb::is_weak_referenceable(),
            "A graph of work: kernels, copies and fills with dependencies. instantiate() prepares "
            "a graph to run.\n\n"
            "capture() records a graph from a stream. add_kernel() and the other methods build a "
            "graph from nodes. ``len(graph)`` is\n"
            "the number of nodes. Nodes without a path between them may run at the same time.\n\n"
            ">>> memory = cuda.mem_alloc(8)\n"
            ">>> graph = cuda.Graph()\n"
            ">>> first = graph.add_fill(memory, 1, 2, element_size=4)\n"
            ">>> second = graph.add_fill(memory, 7, 1, element_size=4, dependencies=[first])\n"
            ">>> graph.instantiate().launch()\n"
            ">>> cuda.from_device(memory, 2, np.int32)\n"
            "array([7, 1], dtype=int32)")
            .def(nb::init<>())
            .def(
                "instantiate", [](nb::handle graph) { return PythonExecutable(graph); },
                nb::lock_self(),
                "Prepare the graph to run. Returns an ExecutableGraph of the present nodes.\n\n"
                "Later changes of the graph have no effect on the result, which keeps the memory "
                "of the nodes. A launch costs less than\n"
                "the launches of the nodes one by one. Raises LogicError if the dependencies form "
                "a cycle.")
            .def("clone", clone_of, nb::lock_self(),
                 "Return a copy of the graph with copies of all nodes.\n\n"
                 "Later changes of one graph do not affect the other graph. GraphNodes of the "
                 "original do not belong to the copy.")
            .def(
                "__len__", [](nb::handle self) { return graph_of(self).node_count(); },
                nb::lock_self())
            .def("add_empty", add_empty, nb::lock_self(), nb::arg("dependencies") = none,
                 "Add a node without work. Returns its GraphNode.\n\n"
                 "dependencies: the nodes that must be done before.\n\n"
                 "The node is done when all its dependencies are done: many nodes can depend on "
                 "many others by one empty node.")
            .def("add_kernel", add_kernel, nb::lock_self(), nb::arg("launch"),
                 nb::arg("dependencies") = none,
                 "Add a kernel launch. Returns its GraphNode.\n\n"
                 "launch: a BoundLaunch of Function.bind().\n"
                 "dependencies: the nodes that must be done before the launch.")
            .def("add_copy", add_copy, nb::lock_self(), nb::arg("dest"), nb::arg("src"),
                 nb::arg("size"), nb::arg("dependencies") = none,
                 "Add a copy in device memory. Returns its GraphNode.\n\n"
                 "dest, src: device memory.\n"
                 "size: bytes.\n"
                 "dependencies: the nodes that must be done before the copy.")
            .def("add_fill", add_fill, nb::lock_self(), nb::arg("dest"), nb::arg("value"),
                 nb::arg("count"), nb::arg("element_size") = 1, nb::arg("dependencies") = none,
                 "Add a node that sets memory. Returns its GraphNode.\n\n"
                 "dest: device memory.\n"
                 "value: the value of each element.\n"
                 "count: the number of elements.\n"
                 "element_size: bytes of an element: 1, 2 or 4.\n"
                 "dependencies: the nodes that must be done before.")
            .def("add_conditional", add_conditional, nb::lock_self(), nb::arg("kind"),
                 nb::arg("bodies") = 1U, nb::arg("value") = 0U, nb::arg("dependencies") = none,
                 "Add a node that runs other graphs, as a value says. Returns its "
                 "ConditionalNode.\n\n"
                 "kind: ``\"if\"`` runs the first body if the value is not 0, else the second one, "
                 "if there are two. ``\"while\"`` runs its\n"
                 "  body as long as the value is not 0. ``\"switch\"`` runs the body whose number "
                 "is the value.\n"
                 "bodies: the number of graphs.\n"
                 "value: the value at the begin of each launch.\n"
                 "dependencies: the nodes that must be done before.\n\n"
                 "Needs CUDA 12.4; a second body of \"if\" and \"switch\" need 12.8.")
            .def(
                "write_dot",
                [](nb::handle self, const std::string &path) { graph_of(self).write_dot(path); },
                nb::lock_self(), nb::arg("path"),
                "Write the graph as a .dot file, which Graphviz draws.\n\n"
                "path: the file, which is replaced if it exists.")
            .def("close", close_graph, nb::lock_self(),
                 "Destroy the graph now. A second call does nothing.\n\n"
                 "Executable graphs that instantiate() made from the graph remain usable.")
            .def("__repr__", represent, nb::lock_self())
            .def_prop_ro(
                "handle", [](nb::handle self) { return handle_of(graph_of(self)); },
                "The CUgraph, as an int."),
        "close");

    bind_with_block(
        nb::class_<PythonExecutable>(module, "ExecutableGraph", nb::type_slots(executable_slots),
                                     nb::is_weak_referenceable(),
                                     "A graph that is ready to run. Graph.instantiate() makes it, "
                                     "and launch() runs it as often as needed.\n\n"
                                     "Two launches of the same object run one after the other. "
                                     "``with executable:`` destroys the object at the end.\n\n"
                                     ">>> x = gpuarray.zeros(2, np.float32)\n"
                                     ">>> stream = cuda.Stream()\n"
                                     ">>> with cuda.capture(stream) as recorded:\n"
                                     "...     with stream:\n"
                                     "...         x += 1\n"
                                     ">>> executable = recorded.graph.instantiate()\n"
                                     ">>> for _ in range(3):\n"
                                     "...     executable.launch(stream)\n"
                                     ">>> stream.synchronize()\n"
                                     ">>> x\n"
                                     "array([3., 3.], dtype=float32)")
            .def("launch", launch_graph, nb::lock_self(), nb::arg("stream") = nb::none(),
                 "Queue all work of the graph in a stream.\n\n"
                 "stream: a Stream; by default the thread's current stream.")
            .def(
                "upload",
                [](const PythonExecutable &graph, nb::handle stream) {
                    graph.upload(stream_ref(stream));
                },
                nb::lock_self(), nb::arg("stream") = nb::none(),
                "Upload the graph to the device, so that the first launch takes no longer than "
                "later ones.\n\n"
                "stream: a Stream; by default the thread's current stream. A launch without an "
                "upload uploads first.")
            .def("update", update_graph, nb::lock_self(), nb::arg("graph"),
                 "Replace the arguments of the nodes by those of another graph.\n\n"
                 "graph: a Graph with the same nodes and dependencies. Raises LogicError for "
                 "another one.")
            .def("update_kernel", update_kernel, nb::lock_self(), nb::arg("node"),
                 nb::arg("launch"),
                 "Replace the launch of one node, for later launches of the graph.\n\n"
                 "node: a GraphNode of add_kernel(), of the graph that was instantiated.\n"
                 "launch: a BoundLaunch of Function.bind().")
            .def("update_copy", update_copy, nb::lock_self(), nb::arg("node"), nb::arg("dest"),
                 nb::arg("src"), nb::arg("size"),
                 "Replace the copy of one node, for later launches of the graph.\n\n"
                 "node: a GraphNode of add_copy().\n"
                 "dest, src: device memory.\n"
                 "size: bytes.")
            .def("update_fill", update_fill, nb::lock_self(), nb::arg("node"), nb::arg("dest"),
                 nb::arg("value"), nb::arg("count"), nb::arg("element_size") = 1,
                 "Replace the fill of one node, for later launches of the graph.\n\n"
                 "node: a GraphNode of add_fill().\n"
                 "dest, value, count, element_size: as in add_fill().")
            .def("close", close_executable, nb::lock_self(),
                 "Destroy the executable graph now. A launch that has begun still runs to its "
                 "end.\n\n"
                 "A second call does nothing. launch() of a closed graph raises LogicError.")
            .def("__repr__", represent_executable, nb::lock_self()),
        "close");

    module.def("begin_capture", start_capture, nb::arg("stream"),
               nb::arg("mode") = int{CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
               "Record later work of a stream into a graph, instead of running the work. "
               "end_capture() returns the graph.\n\n"
               "stream: a Stream, not the default stream.\n"
               "mode: what other threads may call meanwhile, as in cuStreamBeginCapture.\n\n"
               "capture() does the same in a ``with`` block.");
    module.def(
        "end_capture", [](const Stream &stream) { return PythonGraph(end_capture(stream)); },
        nb::arg("stream"),
        "End the recording of begin_capture(). Returns the Graph.\n\n"
        "stream: the Stream of begin_capture().\n\n"
        "Raises LogicError if the stream does not record, and if work was recorded that a "
        "graph cannot hold; the recording is\n"
        "lost then.");
    module.def("is_capturing", is_capturing, nb::arg("stream"),
               "Return whether a stream records its work instead of running it.\n\n"
               "stream: a Stream.\n\n"
               ">>> stream = cuda.Stream()\n"
               ">>> with cuda.capture(stream):\n"
               "...     print(cuda.is_capturing(stream))\n"
               "True\n"
               ">>> cuda.is_capturing(stream)\n"
               "False");
}

} // namespace pycuda::python
