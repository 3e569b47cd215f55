// updatable_node.cpp -- keeps the values of a node that kernels change, and runs it.
#include "device/graphs/updatable_node.h"

#include "device/error.h"
#include "device/graphs/device_graph.h"
#include "device/graphs/graph.h"
#include "device/graphs/nested_run.h"
#include "device/registry.h"

#include <algorithm>
#include <utility>

namespace softcuda::device {
namespace {

/// Waits for the node's turn, because kernels before it may change it.
class UpdatableRun final : public NestedRun {
  public:
    UpdatableRun(Stream &stream, const KernelWork &work, GraphEnvironment *environment)
        : NestedRun(stream), work_(work),
          environment_(environment ? environment->shared_from_this() : nullptr) {}

  private:
    bool run_next(Stream &inner) override {
        if (std::exchange(over_, true) || !work_.updatable->read(work_))
            return false;
        run_kernel(inner, work_, environment_.get());
        return true;
    }

    KernelWork work_;
    std::shared_ptr<GraphEnvironment> environment_;
    bool over_ = false;
};

} // namespace

std::shared_ptr<UpdatableNode> UpdatableNode::make() {
    std::shared_ptr<UpdatableNode> made(new UpdatableNode);
    weak_registry<UpdatableNode>().add(reinterpret_cast<std::uint64_t>(made.get()), made);
    return made;
}

UpdatableNode::~UpdatableNode() {
    weak_registry<UpdatableNode>().remove(reinterpret_cast<std::uint64_t>(this));
}

std::shared_ptr<UpdatableNode> UpdatableNode::find(std::uint64_t handle) {
    return weak_registry<UpdatableNode>().find(handle);
}

void UpdatableNode::instantiate(const KernelWork &work) {
    {
        std::lock_guard lock(mutex_);
        require(!std::exchange(instantiated_, true), CUDA_ERROR_NOT_SUPPORTED);
    }
    assign(work);
}

void UpdatableNode::assign(const KernelWork &work) {
    std::lock_guard lock(mutex_);
    grid_ = work.shape.grid;
    parameters_ = work.parameters;
}

void UpdatableNode::set_enabled(bool enabled) {
    std::lock_guard lock(mutex_);
    enabled_ = enabled;
}

void UpdatableNode::upload() {
    std::lock_guard lock(mutex_);
    uploaded_ = true;
}

std::size_t UpdatableNode::parameter_bytes() const {
    std::lock_guard lock(mutex_);
    return parameters_.size();
}

bool UpdatableNode::change_parameter(std::uint64_t offset, std::span<const std::byte> value) {
    std::lock_guard lock(mutex_);
    if (!uploaded_ || offset > parameters_.size() || value.size() > parameters_.size() - offset)
        return false;
    std::ranges::copy(value, parameters_.begin() + static_cast<std::ptrdiff_t>(offset));
    return true;
}

bool UpdatableNode::change_grid(const std::array<std::uint32_t, 3> &grid) {
    std::lock_guard lock(mutex_);
    if (!uploaded_ || product(grid) == 0)
        return false;
    grid_ = grid;
    return true;
}

bool UpdatableNode::change_enabled(bool enabled) {
    std::lock_guard lock(mutex_);
    if (!uploaded_)
        return false;
    enabled_ = enabled;
    return true;
}

bool UpdatableNode::read(KernelWork &work) const {
    std::lock_guard lock(mutex_);
    work.shape.grid = grid_;
    work.parameters = parameters_;
    return enabled_;
}

void UpdatableNode::enqueue(Stream &stream, const KernelWork &work, GraphEnvironment *environment) {
    enqueue_nested(stream, std::make_shared<UpdatableRun>(stream, work, environment));
}

} // namespace softcuda::device
