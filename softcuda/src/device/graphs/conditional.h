// conditional.h -- conditional nodes of graphs: a value in memory decides whether a body runs, or
// runs again.
//
//     while (value) body       if (value) body [else other]       bodies[value]
//
// A kernel sets the value with cudaGraphSetConditional(), whose handle is the address of the value.
#pragma once

#include "device/graphs/graph_memory.h"
#include "device/stream.h"

#include <cstdint>
#include <cuda.h>
#include <memory>
#include <vector>

namespace softcuda::device {

class GraphEnvironment;
class GraphExec;
class NodeGraph;

/// The value of conditional nodes. Any thread may call any function.
class Condition {
  public:
    enum class Default { Keep, Assign };

    /// `assign`: each launch of the graph sets the value to `value`. Throws Error.
    static std::shared_ptr<Condition> make(Context &context, std::uint32_t value, Default assign);
    /// Null if no condition has that handle.
    [[nodiscard]] static std::shared_ptr<Condition> find(CUgraphConditionalHandle handle);
    Condition(const Condition &) = delete;
    ~Condition();

    [[nodiscard]] CUgraphConditionalHandle handle() const noexcept { return memory_->address(); }
    [[nodiscard]] std::uint32_t value() const noexcept;
    /// Sets the value to the default of the graph's launch, in stream order.
    static void enqueue_default(Stream &stream, const std::shared_ptr<Condition> &condition);

  private:
    Condition(std::shared_ptr<GraphMemory> memory, std::uint32_t value, Default assign)
        : memory_(std::move(memory)), default_(value), assign_(assign) {}
    void set(std::uint32_t value) noexcept;

    std::shared_ptr<GraphMemory> memory_;
    std::uint32_t default_;
    Default assign_;
};

/// The graphs of a conditional node, initially empty. Clients fill them through their handles.
struct ConditionalBodies {
    explicit ConditionalBodies(std::size_t count);
    ConditionalBodies(const ConditionalBodies &) = delete;

    std::vector<std::shared_ptr<NodeGraph>> graphs;
    std::vector<CUgraph> handles;
};

struct ConditionalWork {
    CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
    std::shared_ptr<Condition> condition;
    std::shared_ptr<ConditionalBodies> bodies; ///< null in a GraphExec
};

/// Puts the node's work into a stream: later work waits for the last body that runs. `environment`:
/// see GraphExec::enqueue_nodes().
void enqueue_conditional(Stream &stream, const ConditionalWork &work,
                         const std::vector<std::shared_ptr<GraphExec>> &bodies,
                         std::shared_ptr<GraphEnvironment> environment);

} // namespace softcuda::device
