// graph.h -- work that is recorded once and launched many times at the cost of one launch.
//
//     begin_capture(stream);  ... copies, launches in the stream ...
//     Graph graph = end_capture(stream);
//     ExecutableGraph step(graph);
//     step.launch(stream);
#pragma once

#include <pycuda/context.h>
#include <pycuda/failed_check.h>
#include <pycuda/handle.h>
#include <pycuda/launch.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pycuda {

namespace detail {
class GraphChecks;
CUresult destroy_graph(CUgraph graph);
CUresult destroy_executable_graph(CUgraphExec graph);
} // namespace detail

/// Recorded work. A captured graph owns the memory of arrays that it uses, until the graph, its
/// clones and its executable graphs have ended. Other memory must outlive them.
class Graph {
  public:
    /// An empty graph, in the current context.
    Graph();
    /// Takes over a graph from cuGraphCreate; destroys it at the end.
    static Graph adopt(CUgraph handle, Context context);

    /// Throws after close().
    CUgraph get() const;
    /// The context of the graph.
    const Context &context() const noexcept { return handle_.context(); }
    /// The number of nodes, without those of child graphs. Throws Error.
    std::size_t node_count() const;
    /// A copy of the nodes, with new handles, that is independent of this graph. Throws Error.
    Graph clone() const;

    /// These functions add a node that runs after all of `dependencies`.
    CUgraphNode add_empty(const std::vector<CUgraphNode> &dependencies);
    /// A launch. The driver copies the `size` bytes of arguments. Throws Error.
    CUgraphNode add_kernel(const std::vector<CUgraphNode> &dependencies, const Function &function,
                           const LaunchConfig &config, void *arguments, std::size_t size);
    /// A copy in the context of the graph. Throws Error.
    CUgraphNode add_copy(const std::vector<CUgraphNode> &dependencies, const CUDA_MEMCPY3D &what);
    /// Sets memory in the context of the graph. Throws Error.
    CUgraphNode add_fill(const std::vector<CUgraphNode> &dependencies,
                         const CUDA_MEMSET_NODE_PARAMS &what);

    /// A node with bodies, which are graphs. A value selects the body that runs; the node reads the
    /// value when it begins. Each launch sets the value to `value` first, and a kernel changes it
    /// by cudaGraphSetConditional(handle, value). If: a value other than 0 runs the first body, and
    /// 0 the second, if there are two. While: the body runs as long as the value is not 0. Switch:
    /// the value is the number of the body.
    struct Conditional {
        CUgraphNode node;                ///< the node, for dependencies
        CUgraphConditionalHandle handle; ///< for cudaGraphSetConditional()
        std::vector<Graph> bodies;       ///< empty graphs of the node, valid as long as this graph
    };
    /// Adds such a node with this number of bodies. Throws Error.
    Conditional add_conditional(const std::vector<CUgraphNode> &dependencies,
                                CUgraphConditionalNodeType kind, unsigned bodies, unsigned value);

    /// Writes the graph as a file for Graphviz.
    void write_dot(const std::string &path) const;

    /// Destroys the graph now. Its executable graphs can still be launched.
    void close() noexcept { handle_.reset(); }
    /// True after close().
    bool closed() const noexcept { return handle_.get() == nullptr; }

  private:
    friend class ExecutableGraph;
    friend Graph end_capture(const Stream &stream);
    using Owner = Handle<CUgraph, detail::destroy_graph>;
    explicit Graph(Owner handle, std::shared_ptr<detail::GraphChecks> checks = nullptr)
        : handle_(std::move(handle)), checks_(std::move(checks)) {}
    Owner handle_;
    std::shared_ptr<detail::GraphChecks> checks_; ///< of the capture; null if nothing is checked
};

/// A graph that is ready to run.
class ExecutableGraph {
  public:
    /// Instantiates the graph. Later changes of the graph do not apply; see update(). Throws Error.
    explicit ExecutableGraph(const Graph &graph);

    /// Throws after close().
    CUgraphExec get() const;
    /// The context of the graph.
    const Context &context() const noexcept { return handle_.context(); }
    /// Recorded operations that check values, such as indices, check them in each launch. The next
    /// function that waits for the launch throws FailedCheck if a check failed, or else the next
    /// launch.
    void launch(StreamRef stream) const;
    /// Uploads the graph to the device, so that the first launch is as fast as later launches.
    void upload(StreamRef stream) const;
    /// Copies arguments and sizes from a graph with the same nodes. Throws Error if the nodes
    /// differ.
    void update(const Graph &graph);
    /// These functions replace the arguments of one node for later launches. The node is one of the
    /// graph that was instantiated.
    void update_kernel(CUgraphNode node, const Function &function, const LaunchConfig &config,
                       void *arguments, std::size_t size);
    /// Of add_copy(), in the context of this object.
    void update_copy(CUgraphNode node, const CUDA_MEMCPY3D &what);
    /// Of add_fill(), in the context of this object.
    void update_fill(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS &what);

    /// Destroys the executable graph now. A launch that has begun still completes.
    void close() noexcept { handle_.reset(); }
    /// True after close().
    bool closed() const noexcept { return handle_.get() == nullptr; }

  private:
    Handle<CUgraphExec, detail::destroy_executable_graph> handle_;
    std::shared_ptr<detail::GraphChecks> checks_;
};

/// Starts a capture: later work of the stream is recorded instead of executed.
void begin_capture(const Stream &stream,
                   CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
/// Ends the capture and returns the recorded work.
Graph end_capture(const Stream &stream);
/// True between begin_capture() and end_capture(), also if the capture has become invalid.
bool is_capturing(const Stream &stream);

} // namespace pycuda
