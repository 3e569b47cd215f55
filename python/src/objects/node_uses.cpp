// node_uses.cpp -- what the nodes of a graph use, and the objects that keep it alive.
#include "objects/node_uses.h"

#include <utility>

namespace pycuda::python {

NodeUse use_of_launch(nb::handle launch, const BoundCall &call) {
    return {nb::borrow(launch), std::make_shared<RepeatedUse>(*call.use)};
}

NodeUse use_of_memory(std::initializer_list<nb::handle> memory) {
    auto use = std::make_shared<RepeatedUse>();
    nb::list kept;
    for (const nb::handle object : memory) {
        use->add(object);
        kept.append(object);
    }
    return {kept, std::move(use)};
}

void NodeUses::set(CUgraphNode node, NodeUse use) { std::swap(uses_[node], use); }

void NodeUses::clear() noexcept { const auto ended = std::exchange(uses_, {}); }

void NodeUses::begin(Work &work) const {
    const auto now = uses_; // a foreign array's code may change the nodes
    for (const auto &[node, use] : now)
        use.use->begin(work);
}

int NodeUses::traverse(visitproc visit, void *arg) const noexcept {
    for (const auto &[node, use] : uses_)
        Py_VISIT(use.kept.ptr());
    return 0;
}

} // namespace pycuda::python
