// conditional.cpp -- evaluates the value on the host thread when the node is reached.
//
// The value is evaluated again after each body; the node is done when no body is selected.
#include "device/graphs/conditional.h"

#include "device/context.h"
#include "device/graphs/graph.h"
#include "device/graphs/nested_run.h"
#include "device/host_function.h"
#include "device/memory_pool.h"
#include "device/registry.h"

#include <algorithm>
#include <utility>

namespace softcuda::device {
namespace {

/// The index of the body that a value selects; the number of bodies if none is selected.
std::size_t chosen(CUgraphConditionalNodeType type, std::uint32_t value, std::size_t count) {
    switch (type) {
    case CU_GRAPH_COND_TYPE_WHILE:
        return value != 0 ? 0 : count;
    case CU_GRAPH_COND_TYPE_SWITCH:
        return std::min<std::size_t>(value, count);
    default:
        return value != 0 ? 0 : 1;
    }
}

/// A conditional node in a stream.
class ConditionalRun final : public NestedRun {
  public:
    ConditionalRun(Stream &stream, const ConditionalWork &work,
                   std::vector<std::shared_ptr<GraphExec>> bodies,
                   std::shared_ptr<GraphEnvironment> environment)
        : NestedRun(stream), type_(work.type), condition_(work.condition),
          bodies_(std::move(bodies)), environment_(std::move(environment)) {}

  private:
    bool run_next(Stream &inner) override {
        if (over_)
            return false;
        const std::size_t body = chosen(type_, condition_->value(), bodies_.size());
        if (body >= bodies_.size())
            return false;
        over_ = type_ != CU_GRAPH_COND_TYPE_WHILE;
        bodies_[body]->enqueue_nodes(inner, environment_.get());
        return true;
    }

    CUgraphConditionalNodeType type_;
    std::shared_ptr<Condition> condition_;
    std::vector<std::shared_ptr<GraphExec>> bodies_;
    std::shared_ptr<GraphEnvironment> environment_; ///< or null
    bool over_ = false;                             ///< a body has run that runs only once
};

} // namespace

std::shared_ptr<Condition> Condition::make(Context &context, std::uint32_t value, Default assign) {
    std::shared_ptr<Condition> made(new Condition(
        GraphMemory::make(PoolPlace::of(context.device()), context, 8), value, assign));
    made->set(value);
    weak_registry<Condition>().add(made->handle(), made);
    return made;
}

Condition::~Condition() { weak_registry<Condition>().remove(handle()); }

std::shared_ptr<Condition> Condition::find(CUgraphConditionalHandle handle) {
    return weak_registry<Condition>().find(handle);
}

std::uint32_t Condition::value() const noexcept {
    return __atomic_load_n(reinterpret_cast<const std::uint32_t *>(memory_->address()),
                           __ATOMIC_ACQUIRE);
}

void Condition::set(std::uint32_t value) noexcept {
    __atomic_store_n(reinterpret_cast<std::uint32_t *>(memory_->address()), value,
                     __ATOMIC_RELEASE);
}

void Condition::enqueue_default(Stream &stream, const std::shared_ptr<Condition> &condition) {
    if (condition->assign_ == Default::Assign)
        enqueue_action(stream, [condition] { condition->set(condition->default_); });
}

ConditionalBodies::ConditionalBodies(std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
        graphs.push_back(std::make_shared<NodeGraph>(std::make_shared<Graph>()));
        handles.push_back(reinterpret_cast<CUgraph>(&graphs.back()->graph()));
    }
}

void enqueue_conditional(Stream &stream, const ConditionalWork &work,
                         const std::vector<std::shared_ptr<GraphExec>> &bodies,
                         std::shared_ptr<GraphEnvironment> environment) {
    enqueue_nested(stream,
                   std::make_shared<ConditionalRun>(stream, work, bodies, std::move(environment)));
}

} // namespace softcuda::device
