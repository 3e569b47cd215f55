// node_uses.h -- what the nodes of a graph use, and the objects that keep it alive.
//
//     NodeUse use = use_of_memory({dest, src});          throws before the graph changes
//     const CUgraphNode node = graph.add_copy(...);
//     uses.set(node, std::move(use));
//     ...
//     uses.begin(work);                                  in each launch
#pragma once

#include "support/bindings.h"

#include "launch/bound_launch.h"
#include "support/repeated_use.h"

#include <cuda.h>

#include <initializer_list>
#include <map>
#include <memory>

namespace pycuda::python {

/// What a node of a graph uses, and the object that keeps it alive.
struct NodeUse {
    nb::object kept; ///< a bound launch, or the memory of a copy or fill
    std::shared_ptr<const RepeatedUse> use;
};

NodeUse use_of_launch(nb::handle launch, const BoundCall &call);
NodeUse use_of_memory(std::initializer_list<nb::handle> memory);

/// The uses of all nodes of a graph and its bodies. Objects may run Python code at their end, so
/// they end after the uses have changed.
class NodeUses {
  public:
    bool empty() const noexcept { return uses_.empty(); }
    /// Remembers the use of a node, in place of an earlier one.
    void set(CUgraphNode node, NodeUse use);
    void clear() noexcept;

    /// RepeatedUse::begin() of all nodes.
    void begin(Work &work) const;
    /// For Python's garbage collector.
    int traverse(visitproc visit, void *arg) const noexcept;

  private:
    std::map<CUgraphNode, NodeUse> uses_;
};

} // namespace pycuda::python
