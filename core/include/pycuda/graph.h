// graph.h -- work that is recorded once and launched many times at the cost of one launch.
//
//     begin_capture(stream);  ... copies, launches in the stream ...
//     Graph graph = end_capture(stream);
//     ExecutableGraph step(graph);
//     step.launch(stream);
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>
#include <pycuda/launch.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <cstddef>
#include <string>
#include <vector>

namespace pycuda {

namespace detail {
CUresult destroy_graph(CUgraph graph);
CUresult destroy_executable_graph(CUgraphExec graph);
} // namespace detail

/// Recorded work. Memory that it names must outlive it and what is made of it.
class Graph {
  public:
    /// An empty one, in the current context.
    Graph();
    static Graph adopt(CUgraph handle, Context context);

    /// Throws after close().
    CUgraph get() const;
    const Context &context() const noexcept { return handle_.context(); }
    std::size_t node_count() const;
    Graph clone() const;

    /// Adds nodes that run after all of `dependencies`.
    CUgraphNode add_empty(const std::vector<CUgraphNode> &dependencies);
    CUgraphNode add_kernel(const std::vector<CUgraphNode> &dependencies, const Function &function,
                           const LaunchConfig &config, void *arguments, std::size_t size);
    CUgraphNode add_copy(const std::vector<CUgraphNode> &dependencies, const CUDA_MEMCPY3D &what);
    CUgraphNode add_fill(const std::vector<CUgraphNode> &dependencies,
                         const CUDA_MEMSET_NODE_PARAMS &what);

    /// Writes it as a drawing for Graphviz.
    void write_dot(const std::string &path) const;

    /// Gives it back to the driver now. What was made of it can still be launched.
    void close() noexcept { handle_.reset(); }
    bool closed() const noexcept { return handle_.get() == nullptr; }

  private:
    using Owner = Handle<CUgraph, detail::destroy_graph>;
    explicit Graph(Owner handle) : handle_(std::move(handle)) {}
    Owner handle_;
};

/// A graph made ready to run.
class ExecutableGraph {
  public:
    explicit ExecutableGraph(const Graph &graph);

    /// Throws after close().
    CUgraphExec get() const;
    const Context &context() const noexcept { return handle_.context(); }
    void launch(StreamRef stream) const;
    /// Moves to the device what a launch needs, so that the first is as quick as the others.
    void upload(StreamRef stream) const;
    /// Takes over arguments and sizes of a graph with the same nodes. Throws Error where they are
    /// others.
    void update(const Graph &graph) const;

    /// Gives it back to the driver now. A launch that is under way is still done.
    void close() noexcept { handle_.reset(); }
    bool closed() const noexcept { return handle_.get() == nullptr; }

  private:
    Handle<CUgraphExec, detail::destroy_executable_graph> handle_;
};

/// From now on, work put into the stream is recorded and not done.
void begin_capture(const Stream &stream,
                   CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
/// What was recorded since.
Graph end_capture(const Stream &stream);
bool is_capturing(const Stream &stream);

} // namespace pycuda
