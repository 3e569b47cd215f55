// graph.h -- graphs of work, and their executable form.
//
// A launched graph becomes commands of its stream, one after the other, in an order that satisfies
// the graph's dependencies. Branches of a graph do not overlap, because each node already uses all
// cores.
#pragma once

#include "device/copy.h"
#include "device/event.h"
#include "device/graphs/conditional.h"
#include "device/graphs/graph_memory.h"
#include "device/graphs/updatable_node.h"
#include "device/graphs/user_object.h"
#include "device/launch.h"
#include "device/module.h"
#include "device/stream_memory.h"

#include <atomic>
#include <cstdint>
#include <cuda.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <variant>
#include <vector>

namespace softcuda::device {

class Graph;
class GraphExec;
class GraphNode;

/// Protects all graphs, and the captures that write to them. A thread that finds a graph or a node
/// by its handle holds it as long as it uses the object. Recursive, because the destruction of a
/// graph destroys other graphs. Locked before any other lock of this layer.
[[nodiscard]] std::recursive_mutex &graph_mutex() noexcept;

/// The work of the nodes of a graph.
struct KernelWork {
    KernelWork(std::shared_ptr<Function> function, const LaunchRequest &request);

    std::shared_ptr<Function> function;
    LaunchRequest shape;                              ///< without arguments
    std::vector<std::byte> parameters;                ///< packed
    std::map<int, CUlaunchAttributeValue> attributes; ///< those that only affect speed
    std::shared_ptr<UpdatableNode> updatable;         ///< if kernels can change the node, else null
    /// A graph with such a node cannot be launched.
    [[nodiscard]] bool has_no_blocks() const noexcept {
        return shape.grid[0] == 0 || shape.grid[1] == 0 || shape.grid[2] == 0;
    }
    /// The address of each parameter in `parameters`, as cuGraphKernelNodeGetParams returns it.
    [[nodiscard]] std::vector<void *> pointers() const;
};
/// `environment`: see GraphExec::enqueue_nodes().
void run_kernel(Stream &stream, const KernelWork &work, GraphEnvironment *environment);
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
    bool records = false; ///< else it waits for the event
};
/// A graph that clients can get from a node: its handle is valid as long as the node exists.
class NodeGraph {
  public:
    explicit NodeGraph(std::shared_ptr<Graph> graph);
    /// A client's graph, which remains the client's until adopt().
    static std::shared_ptr<NodeGraph> moved(std::shared_ptr<Graph> graph);
    NodeGraph(const NodeGraph &) = delete;
    ~NodeGraph();

    [[nodiscard]] Graph &graph() const noexcept { return *graph_; }
    /// The graph belongs to a child node from now on.
    void adopt() noexcept;

  private:
    NodeGraph() = default;
    std::shared_ptr<Graph> graph_; ///< the registry also owns it
    bool ends_handle_ = true;
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

/// A node. Belongs to its graph and is destroyed with it.
class GraphNode {
  public:
    GraphNode(Graph &graph, GraphWork work);

    [[nodiscard]] Graph &graph() const noexcept { return graph_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// The node of which this node is a clone, or 0.
    [[nodiscard]] std::uint64_t origin() const noexcept { return origin_; }
    void set_origin(std::uint64_t origin) noexcept { origin_ = origin; }

    GraphWork work;
    std::vector<GraphNode *> dependencies;
    std::vector<void *> parameter_pointers; ///< what GetParams returned to a client

  private:
    Graph &graph_;
    std::uint64_t id_;
    std::uint64_t origin_ = 0;
};

/// A graph. All functions except the destructor require graph_mutex().
class Graph : public std::enable_shared_from_this<Graph> {
  public:
    Graph() = default;
    explicit Graph(const UserReferences &kept) : references(kept) {}
    Graph(const Graph &) = delete;
    ~Graph();

    /// Throws Error(invalid value) for a dependency of another graph, for memory that another node
    /// of the graph frees, and for a child that contains this graph; Error(not supported) for
    /// memory nodes of a graph that belongs to a child node.
    GraphNode &add(GraphWork work, const std::vector<GraphNode *> &dependencies);
    void remove(GraphNode &node);

    [[nodiscard]] const std::vector<std::shared_ptr<GraphNode>> &nodes() const noexcept {
        return nodes_;
    }
    /// Topological order: each node after its dependencies. Throws Error(invalid value) if there is
    /// a cycle.
    [[nodiscard]] std::vector<GraphNode *> sorted() const;
    /// Throws Error(not supported).
    [[nodiscard]] std::shared_ptr<Graph> clone() const;
    /// Whether a node allocates or frees memory, also of a child graph.
    [[nodiscard]] bool has_memory_nodes() const;
    /// Throws Error(not supported) if has_memory_nodes(): CUDA does not remove nodes and edges of
    /// such a graph, and neither clones it nor makes a clone of it a child of a node.
    void require_no_memory_nodes() const;
    /// Throws Error(not supported) if the graph belongs to a child node, or if it has memory nodes
    /// and is instantiated already.
    void require_may_instantiate() const;
    void set_exec(const std::shared_ptr<GraphExec> &exec) { exec_ = exec; }
    /// Whether a child node owns the graph. An H200 neither destroys and instantiates such a graph,
    /// nor makes it a child again, nor adds memory nodes to it.
    [[nodiscard]] bool belongs_to_node() const noexcept { return belongs_to_node_; }
    void set_belongs_to_node() noexcept { belongs_to_node_ = true; }
    /// Throws Error(not supported) if kernels can change a node of the graph, also of a child
    /// graph.
    void require_no_updatable_nodes() const;

    UserReferences references; ///< the client's objects that it keeps alive
    std::vector<std::shared_ptr<Condition>> conditions; ///< of its conditional nodes

  private:
    [[nodiscard]] bool contains(const Graph &other) const;

    std::vector<std::shared_ptr<GraphNode>> nodes_; ///< the registry also owns them
    std::unordered_set<const GraphMemory *> freed_; ///< by nodes, which are not removed
    std::weak_ptr<GraphExec> exec_;                 ///< the last one made from the graph
    bool belongs_to_node_ = false;
};

/// A graph in the state in which it was instantiated. Any thread may launch it.
class GraphExec : public std::enable_shared_from_this<GraphExec> {
  public:
    GraphExec(const Graph &graph, std::uint64_t flags);

    [[nodiscard]] std::uint64_t flags() const noexcept { return flags_; }
    /// A launch by a client. It is ordered after earlier launches, also in other streams.
    void launch(Stream &stream);
    /// Puts the nodes into a stream. `environment`: of the launch to which they belong; null if its
    /// kernels launch no graphs.
    void enqueue_nodes(Stream &stream, GraphEnvironment *environment);

    // Kernels may launch it after upload().
    [[nodiscard]] bool device_launchable() const noexcept {
        return (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
    }
    [[nodiscard]] bool uploaded() const noexcept { return uploaded_; }
    void upload();
    std::atomic<unsigned> uses{0}; ///< of GraphUse

    /// Replaces the work of the node that was made from `node`. Throws Error(invalid value).
    void set_work(const GraphNode &node, GraphWork work);
    void set_enabled(const GraphNode &node, bool enabled);
    [[nodiscard]] bool enabled(const GraphNode &node);

    struct Difference {
        CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
        GraphNode *node = nullptr;
    };
    /// Copies the work and the references of a graph with the same topology.
    [[nodiscard]] Difference update(const Graph &graph);

  private:
    struct Step {
        std::uint64_t node = 0;
        GraphWork work;
        std::vector<std::size_t> after;
        bool enabled = true;
        std::shared_ptr<GraphExec> child;
        std::vector<std::shared_ptr<GraphExec>> bodies; ///< for a conditional node
        /// Graphs belong to their nodes, which may be destroyed before the GraphExec.
        void drop_graphs();
        /// Null if kernels cannot change the node.
        [[nodiscard]] std::shared_ptr<UpdatableNode> updatable() const;
    };
    using Steps = std::vector<Step>;
    [[nodiscard]] Step &step(const GraphNode &node);
    [[nodiscard]] std::shared_ptr<const Steps> steps();
    [[nodiscard]] Steps &steps_to_change();
    static Steps steps_of(const Graph &graph);
    /// Throws Error(invalid value) for a kernel without blocks, Error(context is destroyed) for a
    /// kernel whose context was reset.
    static void check_kernels(const Steps &steps);
    /// Throws Error(invalid value) if memory of the last launch is not freed, or if memory to free
    /// is not allocated.
    void change_owners();
    /// Calls use(work) for each node of this type, also of child graphs, in the order of the nodes.
    template <class Use> void for_each_work(Use &&use);
    static void run(Stream &stream, const Step &step, GraphEnvironment *environment);
    /// The indices of the steps in an order that their edges permit: with a schedule, a random one.
    static std::vector<std::size_t> order_of(const Steps &steps, Schedule *schedule);
    /// The edges, for one launch; null if races are not checked.
    static std::shared_ptr<const check::GraphPlace::Before> edges_of(const Steps &steps);
    /// Calls use(node) for each node that kernels can change, also of child graphs.
    template <class Use> void for_each_updatable(Use &&use);
    [[nodiscard]] bool launches_graphs();

    const Context *made_in_;  ///< current when the graph was instantiated, or null
    std::uint64_t life_;      ///< of this context
    std::mutex launch_mutex_; ///< serialises launches
    std::optional<Event> last_launch_;
    std::atomic<bool> uploaded_{false};
    std::mutex mutex_; ///< protects the members below; not held while other locks are taken
    std::uint64_t flags_;
    std::shared_ptr<const UserReferences> references_; ///< also held by launches that run
    std::vector<std::shared_ptr<Condition>> conditions_;
    std::shared_ptr<Steps> steps_; ///< not changed while a launch reads them
};

} // namespace softcuda::device
