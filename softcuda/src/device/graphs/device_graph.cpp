// device_graph.cpp -- checks graphs that kernels may launch, and runs them.
#include "device/graphs/device_graph.h"

#include "device/context.h"
#include "device/graphs/graph.h"
#include "device/graphs/nested_run.h"
#include "device/system.h"

#include <utility>

namespace softcuda::device {
namespace {

// CUDA's limits for one launch of a graph.
constexpr unsigned kMostChildren = 120;
constexpr std::size_t kMostTails = 255;

/// Kernels can reach neither pageable memory nor CUDA arrays in a copy.
bool can_copy(const CopyWork &work) {
    const AddressSpace &memory = System::get().memory();
    const auto reachable = [&](CUmemorytype type, const Copy::End &end) {
        return type != CU_MEMORYTYPE_ARRAY &&
               (work.copy.empty() || memory.contains(end.address, work.copy.width));
    };
    return reachable(work.described.srcMemoryType, work.copy.source) &&
           reachable(work.described.dstMemoryType, work.copy.destination);
}

/// `context`: of the kernels before; null at first.
DeviceGraphRefusal check_node(GraphNode &node, Context *&context);

DeviceGraphRefusal check_nodes(const Graph &graph, Context *&context) {
    for (const std::shared_ptr<GraphNode> &node : graph.nodes())
        if (const DeviceGraphRefusal refusal = check_node(*node, context);
            refusal.result != CUDA_GRAPH_INSTANTIATE_SUCCESS)
            return refusal;
    return {};
}

DeviceGraphRefusal check_node(GraphNode &node, Context *&context) {
    const DeviceGraphRefusal refused = {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, &node};
    if (const auto *child = std::get_if<ChildWork>(&node.work))
        return check_nodes(child->child->graph(), context);
    if (const auto *copy = std::get_if<CopyWork>(&node.work))
        return can_copy(*copy) ? DeviceGraphRefusal{} : refused;
    if (const auto *kernel = std::get_if<KernelWork>(&node.work)) {
        if (kernel->function->info().launches_kernels)
            return refused;
        Context *const own = &kernel->function->module().context();
        if (context && own != context)
            return {CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, &node};
        context = own;
        return {};
    }
    return std::holds_alternative<FillWork>(node.work) ? DeviceGraphRefusal{} : refused;
}

/// A graph and its tail launches.
class GraphRun final : public NestedRun {
  public:
    enum class Parent { Waits, WaitsHere };

    /// `WaitsHere`: the run is over when all graphs are that `parent` has started.
    GraphRun(Stream &stream, std::shared_ptr<GraphExec> exec, std::shared_ptr<GraphUse> use,
             std::shared_ptr<GraphEnvironment> parent, Parent waits)
        : NestedRun(stream), parent_(std::move(parent)), waits_(waits) {
        next_.push_back({std::move(exec), std::move(use)});
    }

  private:
    bool run_next(Stream &inner) override {
        if (current_) {
            if (join_started(inner, *current_))
                return true;
            end_current();
        }
        if (next_.empty())
            return waits_ == Parent::WaitsHere && join_started(inner, *parent_);
        begin_next(inner);
        return true;
    }

    /// False if there is nothing to wait for.
    static bool join_started(Stream &inner, GraphEnvironment &environment) {
        const std::vector<std::shared_ptr<Stream>> started = environment.take_started();
        for (const std::shared_ptr<Stream> &stream : started)
            join(inner, *stream);
        return !started.empty();
    }

    void end_current() {
        const std::vector<std::shared_ptr<GraphUse>> tails = current_->take_tails();
        for (auto tail = tails.rbegin(); tail != tails.rend(); ++tail)
            next_.push_back({(*tail)->exec(), *tail});
        current_.reset();
        runs_->end(); // the launch of the kernel that started this graph may hold it for longer
        runs_.reset();
    }

    void begin_next(Stream &inner) {
        Next next = std::move(next_.back());
        next_.pop_back();
        const bool runs = next.use && next.use->kind() == GraphUse::Kind::Runs;
        if (next.use && !runs)
            next.use->end();
        runs_ = runs ? std::move(next.use) : GraphUse::make(next.exec, GraphUse::Kind::Runs);
        current_ = std::make_shared<GraphEnvironment>(next.exec, parent_);
        next.exec->enqueue_nodes(inner, current_.get());
    }

    /// Streams refer to their last command, and environments to streams.
    void end() noexcept override {
        for (const Next &next : next_)
            if (next.use)
                next.use->end();
        next_.clear();
        current_.reset();
        if (runs_)
            runs_->end();
        runs_.reset();
        parent_.reset();
    }

    /// `use`: null for a client's launch.
    struct Next {
        std::shared_ptr<GraphExec> exec;
        std::shared_ptr<GraphUse> use;
    };

    std::shared_ptr<GraphEnvironment> parent_;
    Parent waits_;
    std::vector<Next> next_; ///< the next one is the last
    std::shared_ptr<GraphEnvironment> current_;
    std::shared_ptr<GraphUse> runs_;
};

} // namespace

DeviceGraphRefusal check_device_graph(const Graph &graph) {
    Context *context = nullptr;
    return graph.nodes().empty() ? DeviceGraphRefusal{CUDA_GRAPH_INSTANTIATE_ERROR}
                                 : check_nodes(graph, context);
}

std::shared_ptr<GraphUse> GraphUse::begin(std::shared_ptr<GraphExec> exec, Kind kind,
                                          unsigned permitted) {
    unsigned uses = exec->uses.load();
    do {
        if ((uses & ~permitted) != 0)
            return nullptr;
    } while (!exec->uses.compare_exchange_weak(uses, uses | static_cast<unsigned>(kind)));
    return std::make_shared<GraphUse>(std::move(exec), kind);
}

std::shared_ptr<GraphUse> GraphUse::make(std::shared_ptr<GraphExec> exec, Kind kind) {
    exec->uses |= static_cast<unsigned>(kind);
    return std::make_shared<GraphUse>(std::move(exec), kind);
}

void GraphUse::end() noexcept {
    if (!ended_.exchange(true))
        exec_->uses &= ~static_cast<unsigned>(kind_);
}

std::uint64_t GraphEnvironment::handle() const noexcept {
    return exec_ && exec_->device_launchable() ? reinterpret_cast<std::uint64_t>(exec_.get()) : 0;
}

std::shared_ptr<GraphUse> GraphEnvironment::admit(const std::shared_ptr<GraphExec> &exec) {
    std::lock_guard lock(mutex_);
    if (admitted_ == kMostChildren)
        return nullptr;
    std::shared_ptr<GraphUse> use = GraphUse::begin(exec, GraphUse::Kind::Runs, 0);
    admitted_ += use ? 1 : 0;
    return use;
}

void GraphEnvironment::start(Context &context, std::shared_ptr<GraphUse> use) {
    const auto stream =
        std::make_shared<Stream>(context, Stream::Kind::NonBlocking, kLeastPriority);
    std::shared_ptr<GraphExec> exec = use->exec();
    enqueue_nested(*stream,
                   std::make_shared<GraphRun>(*stream, std::move(exec), std::move(use),
                                              shared_from_this(), GraphRun::Parent::Waits));
    std::lock_guard lock(mutex_);
    started_.push_back(stream);
}

bool GraphEnvironment::add_tail(const std::shared_ptr<GraphExec> &exec) {
    std::lock_guard lock(mutex_);
    if (tails_.size() == kMostTails)
        return false;
    // A graph may launch itself: it is over before the tail launch begins.
    const unsigned permitted = exec == exec_ ? static_cast<unsigned>(GraphUse::Kind::Runs) : 0;
    std::shared_ptr<GraphUse> use = GraphUse::begin(exec, GraphUse::Kind::WaitsAsTail, permitted);
    if (use)
        tails_.push_back(use);
    return use != nullptr;
}

std::vector<std::shared_ptr<Stream>> GraphEnvironment::take_started() {
    std::lock_guard lock(mutex_);
    return std::exchange(started_, {});
}

std::vector<std::shared_ptr<GraphUse>> GraphEnvironment::take_tails() {
    std::lock_guard lock(mutex_);
    return std::exchange(tails_, {});
}

void enqueue_with_environment(Stream &stream, std::shared_ptr<GraphExec> exec) {
    enqueue_nested(stream, std::make_shared<GraphRun>(stream, std::move(exec), nullptr,
                                                      std::make_shared<GraphEnvironment>(),
                                                      GraphRun::Parent::WaitsHere));
}

} // namespace softcuda::device
