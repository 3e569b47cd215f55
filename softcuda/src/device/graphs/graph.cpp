// graph.cpp -- builds, sorts and runs graphs.
#include "device/graphs/graph.h"

#include "check/modes.h"
#include "device/context.h"
#include "device/error.h"
#include "device/event.h"
#include "device/graphs/capture.h"
#include "device/graphs/device_graph.h"
#include "device/graphs/nested_run.h"
#include "device/host_function.h"
#include "device/registry.h"
#include "device/system.h"
#include "device/transfer.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <unordered_map>

namespace softcuda::device {
namespace {

std::uint64_t next_node_id() {
    static std::atomic<std::uint64_t> next{1};
    return next++;
}

template <class... Cases> struct Overloaded : Cases... {
    using Cases::operator()...;
};

void run_here(Stream &stream, const KernelWork &work, GraphEnvironment *environment) {
    std::size_t bytes = work.parameters.size();
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER,
                     const_cast<std::byte *>(work.parameters.data()), CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    LaunchRequest request = work.shape;
    request.extra = extra;
    request.environment = environment;
    launch(stream, *work.function, work.function, request);
}

/// A stream of another context for one kernel.
class StreamThere {
  public:
    StreamThere(Context &context, int priority)
        : stream_(std::make_shared<Stream>(context, Stream::Kind::NonBlocking, priority)) {
        System::get().timeline().add_stream(stream_);
    }
    ~StreamThere() { System::get().timeline().remove_stream(stream_); }
    StreamThere(const StreamThere &) = delete;
    StreamThere &operator=(const StreamThere &) = delete;
    [[nodiscard]] Stream &get() const noexcept { return *stream_; }

  private:
    std::shared_ptr<Stream> stream_;
};

GraphWork copy_of(const GraphWork &work) {
    if (const auto *child = std::get_if<ChildWork>(&work))
        return ChildWork{std::make_shared<NodeGraph>(child->child->graph().clone())};
    // A condition belongs to one node, and clients have the handles of its bodies.
    require(!std::holds_alternative<ConditionalWork>(work), CUDA_ERROR_NOT_SUPPORTED);
    return work;
}

} // namespace

std::recursive_mutex &graph_mutex() noexcept {
    static auto *const instance = new std::recursive_mutex; // destructors of clients may need it
    return *instance;
}

// The kernels of a graph may belong to several devices: each runs in its own context, between the
// earlier and the later work of the graph.
void run_kernel(Stream &stream, const KernelWork &work, GraphEnvironment *environment) {
    Context &context = work.function->module().context();
    if (&context == &stream.context())
        return run_here(stream, work, environment);
    const StreamThere there(context, stream.priority());
    join(there.get(), stream);
    run_here(there.get(), work, environment);
    join(stream, there.get());
}

NodeGraph::NodeGraph(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {
    registry<Graph>().add(graph_);
}

std::shared_ptr<NodeGraph> NodeGraph::moved(std::shared_ptr<Graph> graph) {
    const std::shared_ptr<NodeGraph> made(new NodeGraph);
    made->graph_ = std::move(graph);
    made->ends_handle_ = false;
    return made;
}

void NodeGraph::adopt() noexcept {
    ends_handle_ = true;
    graph_->set_belongs_to_node();
}

NodeGraph::~NodeGraph() {
    if (ends_handle_)
        registry<Graph>().remove(graph_.get());
}

// Clients add nodes without blocks and set the grid before the launch (tinygrad).
KernelWork::KernelWork(std::shared_ptr<Function> made, const LaunchRequest &request)
    : function(std::move(made)), shape(request), parameters(function->info().parameter_bytes) {
    LaunchRequest checked = request;
    if (has_no_blocks())
        checked.grid = {1, 1, 1};
    check_launch(*function, checked);
    copy_arguments(*function, request, parameters);
    shape.parameters = shape.extra = nullptr;
    shape.updatable = nullptr;
    if (request.updatable) {
        updatable = UpdatableNode::make();
        *request.updatable = updatable->handle();
    }
}

std::vector<void *> KernelWork::pointers() const {
    std::vector<void *> made;
    for (const compiler::Parameter &parameter : function->info().parameters)
        made.push_back(const_cast<std::byte *>(parameters.data()) + parameter.offset);
    return made;
}

namespace {

bool is_memory_work(const GraphWork &work) noexcept {
    return std::holds_alternative<AllocateWork>(work) || std::holds_alternative<FreeWork>(work);
}

} // namespace

CUgraphNodeType type_of(const GraphWork &work) noexcept {
    return std::visit(
        Overloaded{
            [](const EmptyWork &) { return CU_GRAPH_NODE_TYPE_EMPTY; },
            [](const KernelWork &) { return CU_GRAPH_NODE_TYPE_KERNEL; },
            [](const CopyWork &) { return CU_GRAPH_NODE_TYPE_MEMCPY; },
            [](const FillWork &) { return CU_GRAPH_NODE_TYPE_MEMSET; },
            [](const HostWork &) { return CU_GRAPH_NODE_TYPE_HOST; },
            [](const EventWork &work) {
                return work.records ? CU_GRAPH_NODE_TYPE_EVENT_RECORD
                                    : CU_GRAPH_NODE_TYPE_WAIT_EVENT;
            },
            [](const ChildWork &) { return CU_GRAPH_NODE_TYPE_GRAPH; },
            [](const AllocateWork &) { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; },
            [](const FreeWork &) { return CU_GRAPH_NODE_TYPE_MEM_FREE; },
            [](const MemoryOperationsWork &) { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; },
            [](const ConditionalWork &) { return CU_GRAPH_NODE_TYPE_CONDITIONAL; },
        },
        work);
}

GraphNode::GraphNode(Graph &graph, GraphWork does)
    : work(std::move(does)), graph_(graph), id_(next_node_id()) {}

Graph::~Graph() {
    std::lock_guard lock(graph_mutex());
    for (const std::shared_ptr<GraphNode> &node : nodes_)
        registry<GraphNode>().remove(node.get());
}

GraphNode &Graph::add(GraphWork work, const std::vector<GraphNode *> &dependencies) {
    for (std::size_t i = 0; i < dependencies.size(); i++) {
        require(dependencies[i] && &dependencies[i]->graph() == this, CUDA_ERROR_INVALID_VALUE);
        require(std::find(dependencies.begin(), dependencies.begin() + static_cast<long>(i),
                          dependencies[i]) == dependencies.begin() + static_cast<long>(i),
                CUDA_ERROR_INVALID_VALUE);
    }
    require(!belongs_to_node_ || !is_memory_work(work), CUDA_ERROR_NOT_SUPPORTED);
    const auto *child = std::get_if<ChildWork>(&work);
    require(!child || !child->child->graph().contains(*this), CUDA_ERROR_INVALID_VALUE);
    if (const auto *freed = std::get_if<FreeWork>(&work))
        require(freed_.insert(freed->memory.get()).second, CUDA_ERROR_INVALID_VALUE);
    auto node = std::make_shared<GraphNode>(*this, std::move(work));
    node->dependencies = dependencies;
    registry<GraphNode>().add(node);
    nodes_.push_back(node);
    if (const auto *added = std::get_if<ChildWork>(&node->work))
        added->child->adopt();
    return *node;
}

void Graph::remove(GraphNode &node) {
    for (const std::shared_ptr<GraphNode> &other : nodes_)
        std::erase(other->dependencies, &node);
    capture::forget(node);
    registry<GraphNode>().remove(&node);
    std::erase_if(nodes_, [&](const auto &known) { return known.get() == &node; });
}

bool Graph::has_memory_nodes() const {
    return std::ranges::any_of(nodes_, [](const std::shared_ptr<GraphNode> &node) {
        const auto *child = std::get_if<ChildWork>(&node->work);
        return is_memory_work(node->work) || (child && child->child->graph().has_memory_nodes());
    });
}

bool Graph::contains(const Graph &other) const {
    return this == &other || std::ranges::any_of(nodes_, [&](const auto &node) {
               const auto *child = std::get_if<ChildWork>(&node->work);
               return child && child->child->graph().contains(other);
           });
}

void Graph::require_no_memory_nodes() const {
    require(!has_memory_nodes(), CUDA_ERROR_NOT_SUPPORTED);
}

void Graph::require_may_instantiate() const {
    require(!belongs_to_node_, CUDA_ERROR_NOT_SUPPORTED);
    const std::shared_ptr<GraphExec> exec = exec_.lock();
    const bool is_in_use = exec && registry<GraphExec>().find(exec.get()) != nullptr;
    require(!is_in_use || !has_memory_nodes(), CUDA_ERROR_NOT_SUPPORTED);
}

void Graph::require_no_updatable_nodes() const {
    for (const std::shared_ptr<GraphNode> &node : nodes_) {
        const auto *kernel = std::get_if<KernelWork>(&node->work);
        require(!kernel || !kernel->updatable, CUDA_ERROR_NOT_SUPPORTED);
        if (const auto *child = std::get_if<ChildWork>(&node->work))
            child->child->graph().require_no_updatable_nodes();
    }
}

namespace {

/// Nodes leave in rounds, each in the order of creation: a round takes all nodes whose dependencies
/// have left before.
struct Turn {
    std::size_t round, place;
    auto operator<=>(const Turn &) const = default;
};

} // namespace

std::vector<GraphNode *> Graph::sorted() const {
    std::unordered_map<const GraphNode *, std::size_t> places;
    for (const std::shared_ptr<GraphNode> &node : nodes_)
        places.emplace(node.get(), places.size());
    std::vector<std::size_t> waiting(nodes_.size());
    std::vector<std::vector<std::size_t>> dependents(nodes_.size());
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> ready;
    for (std::size_t place = 0; place < nodes_.size(); place++) {
        waiting[place] = nodes_[place]->dependencies.size();
        for (const GraphNode *dependency : nodes_[place]->dependencies)
            dependents[places.at(dependency)].push_back(place);
        if (waiting[place] == 0)
            ready.push({0, place});
    }
    std::vector<GraphNode *> order;
    while (!ready.empty()) {
        const Turn turn = ready.top();
        ready.pop();
        order.push_back(nodes_[turn.place].get());
        for (const std::size_t next : dependents[turn.place])
            if (--waiting[next] == 0)
                ready.push({turn.round + (next < turn.place ? 1 : 0), next});
    }
    require(order.size() == nodes_.size(), CUDA_ERROR_INVALID_VALUE); // else there is a cycle
    return order;
}

std::shared_ptr<Graph> Graph::clone() const {
    require_no_memory_nodes();
    auto made = std::make_shared<Graph>(references);
    made->conditions = conditions;
    std::map<const GraphNode *, GraphNode *> clones;
    for (GraphNode *node : sorted()) {
        std::vector<GraphNode *> dependencies;
        for (GraphNode *dependency : node->dependencies)
            dependencies.push_back(clones.at(dependency));
        GraphNode &clone = made->add(copy_of(node->work), dependencies);
        clone.set_origin(node->id());
        clones[node] = &clone;
    }
    return made;
}

GraphExec::Steps GraphExec::steps_of(const Graph &graph) {
    Steps steps;
    std::map<const GraphNode *, std::size_t> places;
    for (const GraphNode *node : graph.sorted()) {
        Step step;
        step.node = node->id();
        step.work = node->work;
        for (const GraphNode *dependency : node->dependencies)
            step.after.push_back(places.at(dependency));
        if (const auto *child = std::get_if<ChildWork>(&node->work))
            step.child = std::make_shared<GraphExec>(child->child->graph(), 0);
        if (const auto *conditional = std::get_if<ConditionalWork>(&node->work))
            for (const std::shared_ptr<NodeGraph> &body : conditional->bodies->graphs)
                step.bodies.push_back(std::make_shared<GraphExec>(body->graph(), 0));
        step.drop_graphs();
        places[node] = steps.size();
        steps.push_back(std::move(step));
    }
    return steps;
}

GraphExec::GraphExec(const Graph &graph, std::uint64_t flags)
    : made_in_(current_context::get()), life_(made_in_ ? made_in_->life() : 0), flags_(flags),
      references_(std::make_shared<UserReferences>(graph.references)),
      conditions_(graph.conditions), steps_(std::make_shared<Steps>(steps_of(graph))) {
    for (const Step &step : *steps_)
        if (const std::shared_ptr<UpdatableNode> node = step.updatable())
            node->instantiate(std::get<KernelWork>(step.work));
}

void GraphExec::Step::drop_graphs() {
    if (auto *own = std::get_if<ChildWork>(&work))
        own->child.reset();
    if (auto *own = std::get_if<ConditionalWork>(&work))
        own->bodies.reset();
}

void GraphExec::run(Stream &stream, const Step &step, GraphEnvironment *environment) {
    std::visit(
        Overloaded{
            [](const EmptyWork &) {},
            [&](const KernelWork &work) {
                work.updatable ? UpdatableNode::enqueue(stream, work, environment)
                               : run_kernel(stream, work, environment);
            },
            [&](const CopyWork &work) { enqueue_unwatched(stream, work.copy); },
            [&](const FillWork &work) { enqueue(stream, work.fill, Wait::No); },
            [&](const HostWork &work) {
                enqueue_host_function(
                    stream,
                    [work](CUresult) { run_host_function([&] { work.function(work.argument); }); },
                    HostFunction::OnError::Skip);
            },
            [&](const EventWork &work) {
                work.records ? work.event->record(stream) : work.event->hold(stream);
            },
            [&](const ChildWork &) { step.child->enqueue_nodes(stream, environment); },
            [&](const AllocateWork &work) {
                enqueue_action(stream, [memory = work.memory] { GraphMemory::begin_use(memory); });
            },
            [&](const FreeWork &work) {
                enqueue_action(stream,
                               [memory = work.memory] { GraphMemory::end_use(memory->address()); });
            },
            [&](const MemoryOperationsWork &work) {
                for (const MemoryOperation &operation : work.operations)
                    enqueue_memory_operation(stream, operation);
            },
            [&](const ConditionalWork &work) {
                enqueue_conditional(stream, work, step.bodies,
                                    environment ? environment->shared_from_this() : nullptr);
            },
        },
        step.work);
}

std::vector<std::size_t> GraphExec::order_of(const Steps &steps, Schedule *schedule) {
    std::vector<std::size_t> order(steps.size());
    std::iota(order.begin(), order.end(), 0);
    if (!schedule)
        return order;
    std::vector<bool> is_done(steps.size());
    for (std::size_t first = 0; first < order.size(); first++) {
        const auto is_ready = [&](std::size_t index) {
            return std::ranges::all_of(steps[index].after,
                                       [&](std::size_t before) { return is_done[before]; });
        };
        const auto rest =
            std::ranges::subrange(order.begin() + static_cast<std::ptrdiff_t>(first), order.end());
        const auto blocked = std::ranges::stable_partition(rest, is_ready);
        const std::size_t ready = rest.size() - blocked.size();
        std::swap(order[first], order[first + schedule->choose(ready)]);
        is_done[order[first]] = true;
    }
    return order;
}

void GraphExec::check_kernels(const Steps &steps) {
    for (const Step &step : steps) {
        const auto *kernel = std::get_if<KernelWork>(&step.work);
        if (!step.enabled || !kernel)
            continue;
        require(!kernel->has_no_blocks(), CUDA_ERROR_INVALID_VALUE);
        require(!kernel->function->module().outlives_context(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
}

template <class Use> void GraphExec::for_each_work(Use &&use) {
    const std::shared_ptr<const Steps> now = steps();
    for (const Step &step : *now)
        if (step.child)
            step.child->for_each_work(use);
        else
            use(step.work);
}

// The client frees memory in the order of its calls, before the device reaches the nodes.
void GraphExec::change_owners() {
    const bool frees_at_launch = (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
    std::unordered_map<GraphMemory *, bool> allocated; // after the nodes so far
    const auto find = [&](const std::shared_ptr<GraphMemory> &memory) -> bool & {
        return allocated.try_emplace(memory.get(), memory->is_allocated()).first->second;
    };
    for_each_work([&](const GraphWork &work) {
        if (const auto *allocates = std::get_if<AllocateWork>(&work)) {
            require(frees_at_launch || !find(allocates->memory), CUDA_ERROR_INVALID_VALUE);
            find(allocates->memory) = true;
        } else if (const auto *frees = std::get_if<FreeWork>(&work)) {
            require(find(frees->memory), CUDA_ERROR_INVALID_VALUE);
            find(frees->memory) = false;
        }
    });
    for (const auto &[memory, is_allocated] : allocated)
        memory->set_allocated(is_allocated);
}

std::shared_ptr<UpdatableNode> GraphExec::Step::updatable() const {
    const auto *kernel = std::get_if<KernelWork>(&work);
    return kernel ? kernel->updatable : nullptr;
}

std::shared_ptr<const GraphExec::Steps> GraphExec::steps() {
    std::lock_guard lock(mutex_);
    return steps_;
}

template <class Use> void GraphExec::for_each_updatable(Use &&use) {
    const std::shared_ptr<const Steps> now = steps();
    for (const Step &step : *now) {
        if (const std::shared_ptr<UpdatableNode> node = step.updatable())
            use(*node);
        if (step.child)
            step.child->for_each_updatable(use);
        for (const std::shared_ptr<GraphExec> &body : step.bodies)
            body->for_each_updatable(use);
    }
}

bool GraphExec::launches_graphs() {
    const std::shared_ptr<const Steps> now = steps();
    return std::ranges::any_of(*now, [](const Step &step) {
        const auto *kernel = std::get_if<KernelWork>(&step.work);
        return (kernel && kernel->function->info().launches_graphs) ||
               (step.child && step.child->launches_graphs()) ||
               std::ranges::any_of(step.bodies, [](const std::shared_ptr<GraphExec> &body) {
                   return body->launches_graphs();
               });
    });
}

void GraphExec::upload() {
    uploaded_ = true;
    for_each_updatable([](UpdatableNode &node) { node.upload(); });
}

void GraphExec::launch(Stream &stream) {
    std::lock_guard one_launch(launch_mutex_);
    // After a reset, copies and fills would reach memory that was freed.
    require(&stream.context() != made_in_ || made_in_->life() == life_,
            CUDA_ERROR_CONTEXT_IS_DESTROYED);
    upload();
    check_kernels(*steps());
    change_owners();
    if (last_launch_)
        last_launch_->hold(stream);
    if (device_launchable() || launches_graphs())
        enqueue_with_environment(stream, shared_from_this());
    else
        enqueue_nodes(stream, nullptr);
    last_launch_.emplace(stream.context(), CU_EVENT_DISABLE_TIMING);
    last_launch_->record(stream);
}

std::shared_ptr<const check::GraphPlace::Before> GraphExec::edges_of(const Steps &steps) {
    if (!(check::modes() & check::Race))
        return nullptr;
    std::vector<std::vector<std::size_t>> after;
    for (const Step &step : steps)
        after.push_back(step.after);
    return std::make_shared<check::GraphPlace::Before>(check::GraphPlace::before_of(after));
}

void GraphExec::enqueue_nodes(Stream &stream, GraphEnvironment *environment) {
    std::shared_ptr<const Steps> steps;
    std::vector<std::shared_ptr<Condition>> conditions;
    std::shared_ptr<const UserReferences> references;
    {
        std::lock_guard lock(mutex_);
        steps = steps_;
        conditions = conditions_;
        references = references_;
    }
    check_kernels(*steps);
    for (const std::shared_ptr<Condition> &condition : conditions)
        Condition::enqueue_default(stream, condition);
    const std::shared_ptr<const check::GraphPlace::Before> before = edges_of(*steps);
    for (const std::size_t index : order_of(*steps, System::get().timeline().schedule()))
        if (const Step &step = (*steps)[index]; step.enabled || step.updatable()) {
            const check::GraphPlaceScope scope(before, index);
            run(stream, step, environment);
        }
    if (!references->empty())
        enqueue_host_function( // the last reference calls the client
            stream,
            [held = std::move(references)](CUresult) mutable {
                run_host_function([&] { held.reset(); });
            },
            HostFunction::OnError::Call);
}

GraphExec::Steps &GraphExec::steps_to_change() {
    if (steps_.use_count() > 1) // a launch is reading them
        steps_ = std::make_shared<Steps>(*steps_);
    return *steps_;
}

GraphExec::Step &GraphExec::step(const GraphNode &node) {
    Steps &steps = steps_to_change();
    const auto position = std::find_if(steps.begin(), steps.end(), [&](const Step &step) {
        return step.node == node.id() || step.node == node.origin();
    });
    require(position != steps.end(), CUDA_ERROR_INVALID_VALUE);
    return *position;
}

void GraphExec::set_work(const GraphNode &node, GraphWork work) {
    Step made;
    if (const auto *child = std::get_if<ChildWork>(&work))
        made.child = std::make_shared<GraphExec>(child->child->graph(), 0);
    made.work = std::move(work);
    made.drop_graphs();
    std::lock_guard lock(mutex_);
    Step &changed = step(node);
    require(type_of(changed.work) == type_of(made.work), CUDA_ERROR_INVALID_VALUE);
    if (auto *kernel = std::get_if<KernelWork>(&made.work)) {
        kernel->updatable = std::get<KernelWork>(changed.work).updatable;
        if (kernel->updatable)
            kernel->updatable->assign(*kernel);
    }
    changed.child = std::move(made.child);
    changed.work = std::move(made.work);
}

void GraphExec::set_enabled(const GraphNode &node, bool enabled) {
    std::lock_guard lock(mutex_);
    Step &changed = step(node);
    const CUgraphNodeType type = type_of(changed.work);
    require(type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                type == CU_GRAPH_NODE_TYPE_MEMSET,
            CUDA_ERROR_INVALID_VALUE);
    changed.enabled = enabled;
    if (const std::shared_ptr<UpdatableNode> of = changed.updatable())
        of->set_enabled(enabled);
}

bool GraphExec::enabled(const GraphNode &node) {
    std::lock_guard lock(mutex_);
    return step(node).enabled;
}

GraphExec::Difference GraphExec::update(const Graph &graph) {
    Steps wanted = steps_of(graph);
    const std::vector<GraphNode *> nodes = graph.sorted();
    // Released after the lock, because that may call the client.
    std::shared_ptr<const UserReferences> references =
        std::make_shared<UserReferences>(graph.references);
    std::lock_guard lock(mutex_);
    Steps &steps = steps_to_change();
    if (wanted.size() != steps.size())
        return {.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
    for (std::size_t i = 0; i < wanted.size(); i++) {
        if (type_of(wanted[i].work) != type_of(steps[i].work))
            return {.result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, .node = nodes[i]};
        if (wanted[i].after != steps[i].after)
            return {.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, .node = nodes[i]};
    }
    conditions_ = graph.conditions;
    references_.swap(references);
    for (std::size_t i = 0; i < wanted.size(); i++) {
        // The handles of the original graph stay valid.
        steps[i].work = std::move(wanted[i].work);
        steps[i].child = std::move(wanted[i].child);
        steps[i].bodies = std::move(wanted[i].bodies);
    }
    return {};
}

} // namespace softcuda::device
