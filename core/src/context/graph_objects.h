// graph_objects.h -- objects that a graph of the driver owns.
#pragma once

#include <cuda.h>

#include <memory>

namespace pycuda::detail {

/// Makes a graph, also one that is being captured, own an object. Clones of the graph, graphs that
/// contain it and its executable graphs own the object, too. The object is released when the last
/// of them has ended and their launches are done: in a later call of
/// release_objects_of_ended_graphs(), because the driver must not be called in the function by
/// which it reports this.
void give_to_graph(CUgraph graph, std::shared_ptr<void> object);

/// Call it where memory may be freed, and without locks.
void release_objects_of_ended_graphs() noexcept;

} // namespace pycuda::detail
