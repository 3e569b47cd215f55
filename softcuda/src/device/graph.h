// graph.h -- graphs of work, and the launchable form of one.
//
// A launched graph becomes commands of its stream, one after the other in an order that keeps the
// graph's dependencies. Branches of a graph do not overlap: each of them has all cores already.
#pragma once

#include "device/conditional.h"
#include "device/copy.h"
#include "device/event.h"
#include "device/graph_memory.h"
#include "device/launch.h"
#include "device/module.h"
#include "device/stream_memory.h"
#include "device/user_object.h"

#include <cstdint>
#include <cuda.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

namespace softcuda::device {

class Graph;
class GraphNode;

/// Guards what all graphs consist of, and the captures that write to them. Held by whoever finds a
/// graph or a node by its handle, as long as it uses that. Recursive, because a graph that goes
/// takes others with it. Taken before any other lock of this layer.
[[nodiscard]] std::recursive_mutex &graph_mutex() noexcept;

/// What the nodes of a graph do.
struct KernelWork {
    KernelWork(std::shared_ptr<Function> function, const LaunchRequest &request);

    std::shared_ptr<Function> function;
    LaunchRequest shape;                              ///< without arguments
    std::vector<std::byte> parameters;                ///< packed
    std::map<int, CUlaunchAttributeValue> attributes; ///< those that are about speed only
    /// Then the graph that has the node cannot be launched.
    [[nodiscard]] bool has_no_blocks() const noexcept {
        return shape.grid[0] == 0 || shape.grid[1] == 0 || shape.grid[2] == 0;
    }
    /// Where each parameter lies in `parameters`, as cuGraphKernelNodeGetParams gives it.
    [[nodiscard]] std::vector<void *> pointers() const;
};
struct CopyWork {
    CUDA_MEMCPY3D described{};
    Copy copy;
};
struct FillWork {
    Fill fill;
};
struct HostWork {
    CUhostFn function = nullptr;
    void *argument = nullptr;
};
struct EventWork {
    std::shared_ptr<Event> event;
    bool records = false; ///< else waits
};
/// A graph that clients may ask a node for: its handle is good as long as the node is.
class NodeGraph {
  public:
    explicit NodeGraph(std::shared_ptr<Graph> graph);
    NodeGraph(const NodeGraph &) = delete;
    ~NodeGraph();

    [[nodiscard]] Graph &graph() const noexcept { return *graph_; }

  private:
    std::shared_ptr<Graph> graph_; ///< the registry knows it, too
};

struct ChildWork {
    std::shared_ptr<NodeGraph> child; ///< null in a GraphExec
};
struct AllocateWork {
    CUDA_MEM_ALLOC_NODE_PARAMS described{};
    std::shared_ptr<GraphMemory> memory;
};
struct FreeWork {
    std::shared_ptr<GraphMemory> memory;
};
struct MemoryOperationsWork {
    std::vector<MemoryOperation> operations;
};
struct EmptyWork {};

using GraphWork =
    std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, EventWork, ChildWork,
                 AllocateWork, FreeWork, MemoryOperationsWork, ConditionalWork>;

[[nodiscard]] CUgraphNodeType type_of(const GraphWork &work) noexcept;

/// A node. Belongs to its graph and dies with it.
class GraphNode {
  public:
    GraphNode(Graph &graph, GraphWork work);

    [[nodiscard]] Graph &graph() const noexcept { return graph_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// The node that this one is a clone of, or 0.
    [[nodiscard]] std::uint64_t origin() const noexcept { return origin_; }
    void set_origin(std::uint64_t origin) noexcept { origin_ = origin; }

    GraphWork work;
    std::vector<GraphNode *> dependencies;
    std::vector<void *> parameter_pointers; ///< what GetParams pointed a client to

  private:
    Graph &graph_;
    std::uint64_t id_;
    std::uint64_t origin_ = 0;
};

/// A graph. All functions want graph_mutex() to be held, but for the destructor.
class Graph : public std::enable_shared_from_this<Graph> {
  public:
    Graph() = default;
    explicit Graph(const UserReferences &kept) : references(kept) {}
    Graph(const Graph &) = delete;
    ~Graph();

    /// Throws Error(invalid value) for a dependency that is another graph's.
    GraphNode &add(GraphWork work, const std::vector<GraphNode *> &dependencies);
    void remove(GraphNode &node);

    [[nodiscard]] const std::vector<std::shared_ptr<GraphNode>> &nodes() const noexcept {
        return nodes_;
    }
    /// Each node after those that it depends on. Throws Error(invalid value) where there is a
    /// circle.
    [[nodiscard]] std::vector<GraphNode *> sorted() const;
    [[nodiscard]] std::shared_ptr<Graph> clone() const;

    UserReferences references;                          ///< objects of the client's that it keeps
    std::vector<std::shared_ptr<Condition>> conditions; ///< of its conditional nodes

  private:
    std::vector<std::shared_ptr<GraphNode>> nodes_; ///< the registry knows them, too
};

/// A graph as it was when it was instantiated. Any thread may launch it.
class GraphExec {
  public:
    GraphExec(const Graph &graph, std::uint64_t flags);

    [[nodiscard]] std::uint64_t flags() const noexcept { return flags_; }
    void launch(Stream &stream);

    /// Another work for the node that was made from `node`. Throws Error(invalid value).
    void set_work(const GraphNode &node, GraphWork work);
    void set_enabled(const GraphNode &node, bool enabled);
    [[nodiscard]] bool enabled(const GraphNode &node);

    struct Difference {
        CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
        GraphNode *node = nullptr;
    };
    /// Takes over the work of a graph of the same form.
    [[nodiscard]] Difference update(const Graph &graph);

  private:
    struct Step {
        std::uint64_t node = 0;
        GraphWork work;
        std::vector<std::size_t> after;
        bool enabled = true;
        std::shared_ptr<GraphExec> child;
        std::vector<std::shared_ptr<GraphExec>> bodies; ///< of a conditional node
        /// Graphs are their nodes', which may go before the GraphExec does.
        void drop_graphs();
    };
    using Steps = std::vector<Step>;
    [[nodiscard]] Step &step(const GraphNode &node);
    [[nodiscard]] Steps &steps_to_change();
    static Steps steps_of(const Graph &graph);
    /// Throws Error(invalid value) for a kernel without blocks.
    static void check_grids(const Steps &steps);
    static void run(Stream &stream, const Step &step);

    std::mutex launch_mutex_; ///< one launch after the other
    std::mutex mutex_;        ///< of all below; never held while other locks are taken
    std::uint64_t flags_;
    UserReferences references_;
    std::vector<std::shared_ptr<Condition>> conditions_;
    std::shared_ptr<Steps> steps_; ///< not changed while a launch reads them
};

} // namespace softcuda::device
