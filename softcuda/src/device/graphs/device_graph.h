// device_graph.h -- graphs that kernels launch.
//
// The rules are CUDA's; the order in which the parts of a launch run is
//
//     fire and forget       after the launching kernel, beside the rest of its graph, which is
//                           complete when the launched one is
//     sibling               the same, as if the parent of the launching graph had launched it
//     tail launch           when the launching graph is complete; several: one by one, and the
//                           tail launches of one of them before the next of them
//
// A kernel's launches begin when its grid has ended, like those of device_runtime.h.
#pragma once

#include "device/stream.h"

#include <atomic>
#include <cstdint>
#include <cuda.h>
#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::device {

class Graph;
class GraphExec;
class GraphNode;

/// Why kernels cannot launch a graph, for CUDA_GRAPH_INSTANTIATE_PARAMS.
struct DeviceGraphRefusal {
    CUgraphInstantiateResult result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    GraphNode *node = nullptr; ///< null: not one node's fault
};
/// Requires graph_mutex().
[[nodiscard]] DeviceGraphRefusal check_device_graph(const Graph &graph);

/// A launch of a graph holds one of these as long as it is pending or runs, so that a kernel cannot
/// launch the same graph a second time meanwhile.
class GraphUse {
  public:
    enum class Kind : unsigned { Runs = 1, WaitsAsTail = 2 };

    /// Null if the graph has a use that is not in `permitted`, a sum of kinds.
    static std::shared_ptr<GraphUse> begin(std::shared_ptr<GraphExec> exec, Kind kind,
                                           unsigned permitted);
    static std::shared_ptr<GraphUse> make(std::shared_ptr<GraphExec> exec, Kind kind);
    /// For a use that is noted in the GraphExec.
    GraphUse(std::shared_ptr<GraphExec> exec, Kind kind) : exec_(std::move(exec)), kind_(kind) {}
    GraphUse(const GraphUse &) = delete;
    ~GraphUse() { end(); }

    /// Ends the use, although others hold this object.
    void end() noexcept;
    [[nodiscard]] const std::shared_ptr<GraphExec> &exec() const noexcept { return exec_; }
    [[nodiscard]] Kind kind() const noexcept { return kind_; }

  private:
    std::shared_ptr<GraphExec> exec_;
    Kind kind_;
    std::atomic<bool> ended_{false};
};

/// One launch of a graph and what its kernels launch, or the launch of a client, which is the
/// parent of the first graph. Any thread may call any function.
class GraphEnvironment : public std::enable_shared_from_this<GraphEnvironment> {
  public:
    /// The environment of a client's launch.
    GraphEnvironment() = default;
    GraphEnvironment(std::shared_ptr<GraphExec> exec, std::shared_ptr<GraphEnvironment> parent)
        : exec_(std::move(exec)), parent_(std::move(parent)) {}

    /// The value of %current_graph_exec: 0 for a graph that kernels cannot launch.
    [[nodiscard]] std::uint64_t handle() const noexcept;
    [[nodiscard]] const std::shared_ptr<GraphEnvironment> &parent() const noexcept {
        return parent_;
    }

    /// For a kernel of this graph. Null if CUDA refuses the launch. The result is for start().
    [[nodiscard]] std::shared_ptr<GraphUse> admit(const std::shared_ptr<GraphExec> &exec);
    /// Starts a graph whose parent this is.
    void start(Context &context, std::shared_ptr<GraphUse> use);
    /// False if CUDA refuses the launch. It runs when this graph is complete.
    [[nodiscard]] bool add_tail(const std::shared_ptr<GraphExec> &exec);

    /// The streams of the graphs that were started since the last call.
    [[nodiscard]] std::vector<std::shared_ptr<Stream>> take_started();
    [[nodiscard]] std::vector<std::shared_ptr<GraphUse>> take_tails();

  private:
    std::shared_ptr<GraphExec> exec_; ///< null for a client's launch
    std::shared_ptr<GraphEnvironment> parent_;
    std::mutex mutex_;
    unsigned admitted_ = 0;
    std::vector<std::shared_ptr<Stream>> started_;
    std::vector<std::shared_ptr<GraphUse>> tails_;
};

/// Puts a client's launch of a graph into a stream: later work waits for all that its kernels
/// launch.
void enqueue_with_environment(Stream &stream, std::shared_ptr<GraphExec> exec);

} // namespace softcuda::device
